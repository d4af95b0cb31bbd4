/* SPDX-License-Identifier: MIT */
/* GPUs of a tree by DRM drivers, on fixtures. The texts are as the drivers' documentation has them:
 * Documentation/gpu/drm-usage-stats.rst and that of each driver. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu_fixture.h"

#define RENDER "/dev/dri/renderD128"
#define BOTH GPU_DOMAINS

START_TEST(client_of_amdgpu_has_time_and_memory)
{
	const struct rt_gpu_process *user;
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	m = take_sample();
	/* The driver has no file that says how much memory there is. */
	expect_masks(&m, RT_HAS_GPU, RT_HAS_GPU_MEMORY, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpu_memory_bytes, 4096);
	ck_assert_uint_eq(m.gpus, 1);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), -EOPNOTSUPP);
	user = list_users(1);
	ck_assert_int_eq(user->pid, 100);
	ck_assert_uint_eq(user->start_ticks, 1100);
	ck_assert_uint_eq(user->clients, 1);
	ck_assert_uint_eq(user->render_ns, 3000);
	ck_assert_uint_eq(user->memory_bytes, 4096);
	ck_assert_uint_eq(user->valid, BOTH);
}
END_TEST

START_TEST(total_memory_is_of_the_card_with_the_address_of_the_client)
{
	const struct rt_gpu *gpu;
	struct rt_metrics m;

	fixture_write(&fix.root, "sys/class/drm/card0/device/uevent",
	              "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
	fixture_mkdir(&fix.root, "sys/class/drm/card0/device/drm/renderD128");
	fixture_write(&fix.root, "sys/class/drm/card0/device/mem_info_vram_used", "9000000\n");
	fixture_write(&fix.root, "sys/class/drm/card0/device/mem_info_vram_total", "16000000\n");
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	ck_assert_uint_eq(m.gpu_memory_bytes, 4096);
	ck_assert_uint_eq(m.gpu_memory_total_bytes, 16000000);
	gpu = list_gpus(1);
	ck_assert_uint_eq(gpu->memory_used_bytes, 4096);
	ck_assert_uint_eq(gpu->memory_total_bytes, 16000000);
	ck_assert_uint_eq(gpu->busy_ns, 3000);
	ck_assert_uint_eq(gpu->source, RT_GPU_DRM);
	ck_assert_uint_eq(gpu->pci_bus, 3);
	ck_assert_str_eq(gpu->driver, "amdgpu");
	ck_assert_uint_eq(gpu->valid, BOTH);
}
END_TEST

/* What each driver writes, as documented, and the time that it comes to. */
static const struct {
	const char *text;
	uint64_t busy_ns, memory_bytes;
	uint64_t valid, partial, estimated;
} drivers[] = {
	{ "drm-driver: i915\ndrm-pdev: 0000:00:02.0\ndrm-client-id: 7\n"
	  "drm-total-system0: 30 MiB\ndrm-resident-system0: 20 MiB\ndrm-shared-system0: 9 MiB\n"
	  "drm-engine-render: 9000 ns\ndrm-engine-copy: 200 ns\ndrm-engine-video: 60 ns\n"
	  "drm-engine-capacity-video: 2\ndrm-engine-video-enhance: 4 ns\n",
	  9000 + 200 + 60 / 2 + 4, 0, BOTH, 0, 0 },
	{ "drm-driver:\tmsm\ndrm-client-id:\t3\ndrm-engine-gpu:\t500 ns\ndrm-cycles-gpu:\t90\n"
	  "drm-maxfreq-gpu:\t800000000 Hz\ndrm-resident-memory:\t10 MiB\n",
	  500, 0, BOTH, 0, 0 },
	{ "drm-driver:\tpanfrost\ndrm-client-id:\t3\ndrm-engine-fragment:\t100 ns\n"
	  "drm-cycles-fragment:\t70\ndrm-maxfreq-fragment:\t799999987 Hz\n"
	  "drm-engine-vertex-tiler:\t40 ns\ndrm-resident-memory:\t10 MiB\n",
	  140, 0, BOTH, 0, 0 },
	/* Its counters are off until they are switched on in /sys. */
	{ "drm-driver:\tpanfrost\ndrm-client-id:\t3\ndrm-maxfreq-fragment:\t799999987 Hz\n"
	  "drm-resident-memory:\t10 MiB\n",
	  0, 0, RT_HAS_GPU_MEMORY, 0, 0 },
	{ "drm-driver:\tv3d\ndrm-client-id:\t3\ndrm-engine-bin:\t10 ns\nv3d-jobs-bin:\t3 jobs\n"
	  "drm-engine-render:\t20 ns\ndrm-engine-tfu:\t5 ns\ndrm-engine-csd:\t7 ns\n",
	  42, 0, RT_HAS_GPU, 0, 0 },
	/* amdgpu leaves out what was not used. */
	{ "drm-driver:\tamdgpu\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
	  "drm-memory-gtt:\t3 KiB\n",
	  0, 0, BOTH, 0, 0 },
	/* No figures at all. */
	{ "drm-driver:\tnouveau\ndrm-client-id:\t3\ndrm-pdev:\t0000:04:00.0\n", 0, 0, 0, 0, 0 },
	{ "pos:\t0\nflags:\t02\nmnt_id:\t15\n", 0, 0, 0, 0, 0 },
	/* Too old for a number of the client. */
	{ "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-engine-gfx:\t9 ns\n", 0, 0, 0, 0, 0 },
	/* Hostile. */
	{ "drm-driver:\tx\ndrm-client-id:\t3\ndrm-engine-gfx:\t18446744073709551615 ns\n"
	  "drm-engine-dec:\t18446744073709551615 ns\ndrm-resident-gtt:\t1\n",
	  UINT64_MAX, 0, BOTH, 0, 0 },
};

START_TEST(driver_is_read_as_it_is_documented)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_fd(100, 5, RENDER, drivers[_i].text);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, drivers[_i].valid, drivers[_i].partial, drivers[_i].estimated);
	ck_assert_uint_eq(m.gpu_busy_ns, drivers[_i].busy_ns);
	ck_assert_uint_eq(m.gpu_memory_bytes, drivers[_i].memory_bytes);
	if (!(drivers[_i].valid & RT_HAS_GPU))
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -EOPNOTSUPP);
}
END_TEST

START_TEST(sum_of_hostile_clients_does_not_wrap_around)
{
	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, UINT64_MAX, UINT64_MAX);
	open_amdgpu(100, 6, 8, UINT64_MAX, UINT64_MAX);
	track(100, 0);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, UINT64_MAX);
	ck_assert_uint_eq(take_sample().gpu_memory_bytes, UINT64_MAX);
}
END_TEST

static void write_xe(uint64_t cycles, uint64_t total)
{
	char text[300];

	snprintf(text, sizeof(text),
	         "drm-driver:\txe\ndrm-client-id:\t11\ndrm-pdev:\t0000:03:00.0\n"
	         "drm-resident-system:\t1 MiB\ndrm-cycles-rcs:\t%llu\n"
	         "drm-total-cycles-rcs:\t%llu\n",
	         (unsigned long long)cycles, (unsigned long long)total);
	open_fd(100, 5, RENDER, text);
}

/* 1000 cycles pass in a second. */
START_TEST(cycles_of_xe_become_time_and_are_an_estimate)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	write_xe(100, 50000);
	track(100, 0);
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_busy_ns, 0);
	write_xe(350, 51000);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 350 * (SECOND_NS / 1000));
	write_xe(350, 52000);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 350 * (SECOND_NS / 1000));
	ck_assert_uint_eq(m.gpus_used, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENODATA);
	ck_assert_uint_eq(list_users(1)->estimated, RT_HAS_GPU);
	ck_assert_uint_eq(list_gpus(1)->estimated, RT_HAS_GPU);
}
END_TEST

START_TEST(cycles_that_fall_count_nothing)
{
	install_driver();
	write_process(100, 1, "");
	write_xe(500, 1000);
	track(100, 0);
	take_sample();
	write_xe(500, 2000);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 500 * (SECOND_NS / 1000));
	write_xe(UINT64_C(1) << 3, 1500);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 500 * (SECOND_NS / 1000));
	write_xe(700, 3000);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 700 * (SECOND_NS / 1000));
}
END_TEST

/* E.g.: the device was off while it had nothing to do. */
START_TEST(clock_that_begins_anew_is_followed)
{
	install_driver();
	write_process(100, 1, "");
	write_xe(500, 1000000);
	track(100, 0);
	take_sample();
	write_xe(500, 1001000);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 500 * (SECOND_NS / 1000));
	write_xe(600, 100);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 500 * (SECOND_NS / 1000));
	write_xe(700, 1100);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 700 * (SECOND_NS / 1000));
	write_xe(800, 2100);
	ck_assert_uint_eq(take_sample().gpu_busy_ns, 800 * (SECOND_NS / 1000));
}
END_TEST

START_TEST(counter_that_falls_is_kept_at_the_larger)
{
	static const uint64_t shown[] = { 5000, 4000, 4900, 5100 };
	static const uint64_t expected[] = { 5000, 5000, 5000, 5100 };

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, shown[0], 4);
	track(100, 0);
	for (int i = 0; i < 4; i++) {
		open_amdgpu(100, 5, 7, shown[i], 4);
		ck_assert_uint_eq(take_sample().gpu_busy_ns, expected[i]);
	}
}
END_TEST

/* A fork shares the opening of the device, and dup() does so within a process. */
START_TEST(client_that_members_share_counts_once)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	open_amdgpu(100, 6, 7, 3000, 4);
	open_amdgpu(101, 5, 7, 3000, 4);
	track(100, 0);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 3000);
	ck_assert_uint_eq(m.gpu_memory_bytes, 4096);
	ck_assert_uint_eq(m.gpus, 1);
	ck_assert_uint_eq(list_users(1)->clients, 1);
}
END_TEST

START_TEST(clients_of_other_devices_and_drivers_count_each)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	open_amdgpu(101, 5, 8, 500, 2);
	open_fd(101, 6, "/dev/dri/card1",
	        "drm-driver: i915\ndrm-pdev: 0000:00:02.0\ndrm-client-id: 7\n"
	        "drm-engine-render: 40 ns\ndrm-resident-system0: 1 MiB\n");
	track(100, 0);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, 3540);
	ck_assert_uint_eq(m.gpu_memory_bytes, 6144);
	ck_assert_uint_eq(m.gpus, 2);
	list_users(3);
	list_gpus(2);
}
END_TEST

static void open_sharing(int pid, int client, const char *shared)
{
	char text[300];

	snprintf(text, sizeof(text),
	         "drm-driver: xe\ndrm-client-id: %d\ndrm-pdev: 0000:03:00.0\n"
	         "drm-resident-vram0: 8 MiB\n%s",
	         client, shared);
	open_fd(pid, 5, RENDER, text);
}

static const struct {
	const char *first, *second;
	bool is_estimated;
} sharing[] = {
	{ "drm-shared-vram0: 0\n", "drm-shared-vram0: 0\n", false },
	{ "drm-shared-vram0: 1 MiB\n", "drm-shared-vram0: 0\n", false },
	{ "drm-shared-vram0: 1 MiB\n", "drm-shared-vram0: 1 MiB\n", true },
	{ "", "", true },
};

START_TEST(memory_that_clients_may_share_is_an_estimate)
{
	struct rt_metrics m;

	fixture_write(&fix.root, "sys/class/drm/card0/device/uevent",
	              "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
	fixture_mkdir(&fix.root, "sys/class/drm/card0/device/drm/renderD128");
	fixture_write(&fix.root, "sys/class/drm/card0/device/mem_info_vram_used", "9000000\n");
	fixture_write(&fix.root, "sys/class/drm/card0/device/mem_info_vram_total", "16000000\n");
	write_process(100, 1, "101 ");
	write_process(101, 100, "");
	open_sharing(100, 7, sharing[_i].first);
	open_sharing(101, 8, sharing[_i].second);
	track(100, 0);
	m = take_sample();
	ck_assert_uint_eq(m.gpu_memory_bytes, 16 * MIB);
	ck_assert_uint_eq(m.estimated & RT_HAS_GPU_MEMORY,
	                  sharing[_i].is_estimated ? RT_HAS_GPU_MEMORY : 0);
	ck_assert_uint_eq(m.valid & RT_HAS_GPU_MEMORY,
	                  sharing[_i].is_estimated ? 0 : RT_HAS_GPU_MEMORY);
}
END_TEST

static void write_sharing(char *text, size_t size, int client)
{
	snprintf(text, size,
	         "drm-driver: xe\ndrm-client-id: %d\ndrm-pdev: 0000:03:00.0\n"
	         "drm-resident-vram0: 8 MiB\n",
	         client);
}

/* The first of two clients of a process may share with another process alone. */
START_TEST(memory_that_clients_of_one_process_may_share_is_an_estimate)
{
	char text[300];

	fixture_write(&fix.root, "sys/class/drm/card0/device/uevent",
	              "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
	fixture_mkdir(&fix.root, "sys/class/drm/card0/device/drm/renderD128");
	write_process(100, 1, "");
	write_sharing(text, sizeof(text), 7);
	open_fd(100, 5, RENDER, text);
	track(100, 0);
	take_sample();
	ck_assert_uint_eq(list_users(1)->estimated & RT_HAS_GPU_MEMORY, 0);
	write_sharing(text, sizeof(text), 8);
	open_fd(100, 6, RENDER, text);
	take_sample();
	ck_assert_uint_eq(list_users(1)->estimated & RT_HAS_GPU_MEMORY, RT_HAS_GPU_MEMORY);
}
END_TEST

START_TEST(gpu_is_used_if_it_worked_since_the_sample_before)
{
	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	ck_assert_uint_eq(take_sample().gpus_used, 0);
	ck_assert_uint_eq(take_sample().gpus_used, 0);
	open_amdgpu(100, 5, 7, 3000 + SECOND_NS / 2, 4);
	ck_assert_uint_eq(take_sample().gpus_used, 1);
	ck_assert_double_eq_tol(list_gpus(1)->busy_share, 0.5, 1e-9);
	ck_assert_uint_eq(take_sample().gpus_used, 0);
}
END_TEST

START_TEST(difference_has_the_time_in_between)
{
	struct rt_metrics from, to;
	struct rt_delta delta;

	install_driver();
	write_process(100, 1, "");
	open_amdgpu(100, 5, 7, 3000, 4);
	track(100, 0);
	from = take_sample();
	open_amdgpu(100, 5, 7, 4000, 4);
	to = take_sample();
	ck_assert_int_eq(rt_diff(&from, &to, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.gpu_busy_ns, 1000);
	ck_assert_uint_eq(delta.valid & RT_HAS_GPU, RT_HAS_GPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_drm");
	TCase *figures = add_gpu_case(suite, "figures"), *clients = add_gpu_case(suite, "clients");

	tcase_add_test(figures, client_of_amdgpu_has_time_and_memory);
	tcase_add_test(figures, total_memory_is_of_the_card_with_the_address_of_the_client);
	tcase_add_loop_test(figures, driver_is_read_as_it_is_documented, 0,
	                    sizeof(drivers) / sizeof(drivers[0]));
	tcase_add_test(figures, cycles_of_xe_become_time_and_are_an_estimate);
	tcase_add_test(figures, cycles_that_fall_count_nothing);
	tcase_add_test(figures, clock_that_begins_anew_is_followed);
	tcase_add_test(figures, counter_that_falls_is_kept_at_the_larger);
	tcase_add_test(figures, gpu_is_used_if_it_worked_since_the_sample_before);
	tcase_add_test(figures, difference_has_the_time_in_between);
	tcase_add_test(clients, sum_of_hostile_clients_does_not_wrap_around);
	tcase_add_test(clients, client_that_members_share_counts_once);
	tcase_add_test(clients, clients_of_other_devices_and_drivers_count_each);
	tcase_add_test(clients, memory_that_clients_of_one_process_may_share_is_an_estimate);
	tcase_add_loop_test(clients, memory_that_clients_may_share_is_an_estimate, 0,
	                    sizeof(sharing) / sizeof(sharing[0]));
	return suite_run(suite);
}
