/* SPDX-License-Identifier: MIT */
/* The GPU collector, on a fake NVML and on fixtures of DRM cards. */
#include "collect/sys_gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/collector.h"
#include "gpu/nvml_fixture.h"
#include "sampler.h"
#include "suite.h"
#include "threads.h"

extern const struct rti_sys_collector rti_sys_gpu;

#define SECOND_NS UINT64_C(1000000000)
#define ALL (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)
#define H200 "gpu 3b 50 1000 9000 7 H200\n"

static struct nvml_fixture f;
static struct sampler s;
static struct rti_nvml_setup setup;
static uint64_t fake_now_ns;

static uint64_t fake_monotonic_ns(void)
{
	return __atomic_load_n(&fake_now_ns, __ATOMIC_SEQ_CST);
}

static void pass(uint64_t by_ns)
{
	__atomic_fetch_add(&fake_now_ns, by_ns, __ATOMIC_SEQ_CST);
}

static void set_up(void)
{
	nvml_fixture_new(&f);
	fixture_mkdir(&f.files, "sys/class/drm");
	fixture_link(&f.files, "proc/self/ns/pid", "pid:[4026531836]");
	fake_now_ns = 1000 * SECOND_NS;
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_gpu, f.files.root, NULL, 0), 0);
	s.platform.monotonic_ns = fake_monotonic_ns;
	/* As if the fixture was the system itself: NVML is not asked below another root. */
	s.procfs.is_foreign = false;
	setup = (struct rti_nvml_setup){ nvml_fixture_library(3), 90 * SECOND_NS, 90 * SECOND_NS };
	rti_sys_gpu_set_up(s.state, &setup);
}

static void tear_down(void)
{
	sampler_close(&s);
	nvml_fixture_free(&f);
}

static const struct rt_gpu *gpus(size_t expected)
{
	size_t count;
	const struct rt_gpu *rows = sampler_rows(&s, &count);

	ck_assert_uint_eq(count, expected);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(rows[i].size, sizeof(*rows));
	return rows;
}

static const struct rt_gpu_process *processes(size_t expected)
{
	const void *rows;
	size_t count;

	ck_assert_int_eq(rti_sys_gpu.processes(s.state, &rows, &count), 0);
	ck_assert_uint_eq(count, expected);
	return rows;
}

static void expect_masks(uint64_t valid, uint64_t partial, uint64_t estimated)
{
	ck_assert_uint_eq(s.out.valid, valid);
	ck_assert_uint_eq(s.out.partial, partial);
	ck_assert_uint_eq(s.out.estimated, estimated);
}

static void write_process(int pid, int start)
{
	char path[50];

	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	fixture_printf(&f.files, path,
	               "%d (train) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, start);
}

static void write_card(int number, const char *driver, int bus, const char *busy)
{
	char path[100];

	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", number);
	fixture_printf(&f.files, path, "DRIVER=%s\nPCI_SLOT_NAME=0000:%02x:00.0\n", driver,
	               (unsigned)bus);
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/drm/renderD128", number);
	fixture_mkdir(&f.files, path);
	if (!busy)
		return;
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/gpu_busy_percent", number);
	fixture_write(&f.files, path, busy);
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/mem_info_vram_used", number);
	fixture_write(&f.files, path, "300\n");
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/mem_info_vram_total", number);
	fixture_write(&f.files, path, "800\n");
}

START_TEST(one_gpu_has_all_figures)
{
	const struct rt_gpu *gpu;

	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_masks(RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpus, 1);
	ck_assert_uint_eq(s.out.gpus_used, 1);
	ck_assert_uint_eq(s.out.gpu_busy_ns, 0); /* no time has passed */
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1000);
	ck_assert_uint_eq(s.out.gpu_memory_total_bytes, 9000);
	ck_assert_uint_eq(s.out.gpu_energy_uj, 7000);
	gpu = gpus(1);
	ck_assert_str_eq(gpu->name, "H200");
	ck_assert_str_eq(gpu->driver, "nvidia");
	ck_assert_uint_eq(gpu->flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(gpu->source, RT_GPU_NVML);
	ck_assert_uint_eq(gpu->pci_bus, 0x3b);
	ck_assert_uint_eq(gpu->valid, RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY);
	ck_assert_uint_eq(gpu->estimated, RT_HAS_GPU);
	ck_assert(gpu->busy_share == 0.5);
}
END_TEST

/* Half of the first second, a quarter of the next two. */
START_TEST(busy_time_is_the_share_of_the_time_since_the_last_sample)
{
	nvml_fixture_script(&f, H200);
	sampler_take(&s);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 2);
	nvml_fixture_script(&f, "gpu 3b 25 1000 9000 7 H200\n");
	pass(2 * SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
	ck_assert_uint_eq(gpus(1)->busy_ns, SECOND_NS);
	nvml_fixture_script(&f, "gpu 3b 0 1000 9000 7 H200\n");
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
	ck_assert_uint_eq(s.out.gpus_used, 0);
}
END_TEST

START_TEST(system_without_gpu_has_no_figures_and_says_so)
{
	setup.library = "/none/such/libnvidia-ml.so.1";
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	expect_masks(0, 0, 0);
	gpus(0);
	for (uint64_t has = RT_HAS_GPU; has <= RT_HAS_GPU_ENERGY; has <<= 1)
		ck_assert_int_eq(rti_sys_gpu.error_of(s.state, has), -ENOENT);
}
END_TEST

START_TEST(driver_that_refuses_is_the_status)
{
	static const struct {
		int result, err;
	} cases[] = { { 4, -EACCES }, { 18, -EPROTONOSUPPORT }, { 999, -EIO } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nvml_fixture_script(&f, H200 "result nvmlInit %d\n", cases[i].result);
		pass(100 * SECOND_NS);
		ck_assert_int_eq(sampler_take(&s), cases[i].err);
		expect_masks(0, 0, 0);
		ck_assert_int_eq(rti_sys_gpu.error_of(s.state, RT_HAS_GPU_MEMORY), cases[i].err);
	}
}
END_TEST

START_TEST(figure_that_one_gpu_lacks_is_a_lower_bound)
{
	nvml_fixture_script(&f, H200 "gpu 3c 10 500 600 5 GTX\n"
	                             "result nvmlDeviceGetTotalEnergyConsumption 3 1\n");
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	expect_masks(RT_HAS_GPU_MEMORY, RT_HAS_GPU_ENERGY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1500);
	ck_assert_uint_eq(s.out.gpu_energy_uj, 7000);
	ck_assert_int_eq(rti_sys_gpu.error_of(s.state, RT_HAS_GPU_ENERGY), -EOPNOTSUPP);
	ck_assert_int_eq(rti_sys_gpu.error_of(s.state, RT_HAS_GPU_MEMORY), 0);
	ck_assert_uint_eq(gpus(2)[1].valid, RT_HAS_GPU_MEMORY);
}
END_TEST

START_TEST(partitions_are_listed_and_not_added)
{
	const struct rt_gpu *gpu;

	nvml_fixture_script(&f, H200 "instance 0 300 4000\ninstance 0 200 4000\n");
	sampler_take(&s);
	expect_masks(RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpus, 1);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1000);
	gpu = gpus(3);
	ck_assert_uint_eq(gpu[1].flags, RT_ITEM_PARTITION);
	ck_assert_uint_eq(gpu[1].valid, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(gpu[1].estimated, 0);
	ck_assert_str_eq(gpu[2].uuid, "MIG-101");
	ck_assert_uint_eq(gpu[2].memory_used_bytes, 200);
	ck_assert(gpu[0].id != gpu[1].id && gpu[1].id != gpu[2].id);
}
END_TEST

START_TEST(cards_of_both_sources_are_listed_once)
{
	const struct rt_gpu *gpu;

	nvml_fixture_script(&f, H200);
	write_card(0, "amdgpu", 0x3, "20\n");
	write_card(1, "nvidia", 0x3b, NULL);
	sampler_take(&s);
	expect_masks(RT_HAS_GPU_MEMORY, RT_HAS_GPU_ENERGY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpus, 2);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1300);
	ck_assert_uint_eq(s.out.gpu_memory_total_bytes, 9800);
	gpu = gpus(2);
	ck_assert_str_eq(gpu[0].driver, "nvidia");
	ck_assert_str_eq(gpu[1].driver, "amdgpu");
	ck_assert_uint_eq(gpu[1].source, RT_GPU_DRM);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 10 * 7);
}
END_TEST

/* Two cards of the same bus in all but one part of their addresses, and one without an address. */
START_TEST(card_of_another_address_is_another_gpu)
{
	static const char *const addresses[] = { "PCI_SLOT_NAME=0001:3b:00.0\n",
		                                 "PCI_SLOT_NAME=0000:3c:00.0\n",
		                                 "PCI_SLOT_NAME=0000:3b:01.0\n", "" };

	nvml_fixture_script(&f, H200);
	write_card(0, "amdgpu", 0x3, "20\n");
	fixture_printf(&f.files, "sys/class/drm/card0/device/uevent", "DRIVER=amdgpu\n%s",
	               addresses[_i]);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpus, 2);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1300);
	ck_assert_str_eq(gpus(2)[1].driver, "amdgpu");
}
END_TEST

/* Without its library, the card of NVIDIA is still listed, and the totals lack it. */
START_TEST(card_without_its_library_makes_a_lower_bound)
{
	setup.library = "/none/such/libnvidia-ml.so.1";
	write_card(0, "amdgpu", 0x3, "20\n");
	write_card(1, "nvidia", 0x3b, NULL);
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	expect_masks(0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 300);
	ck_assert_uint_eq(gpus(2)[1].valid, 0);
}
END_TEST

START_TEST(card_alone_without_figures_is_listed)
{
	setup.library = "/none/such/libnvidia-ml.so.1";
	write_card(0, "i915", 0, NULL);
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	expect_masks(0, 0, 0);
	ck_assert_str_eq(gpus(1)->driver, "i915");
}
END_TEST

START_TEST(other_root_does_not_ask_the_library)
{
	s.procfs.is_foreign = true;
	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	expect_masks(0, 0, 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 0);
}
END_TEST

START_TEST(counters_go_on_after_the_driver_was_loaded_again)
{
	uint32_t id;

	nvml_fixture_script(&f, H200);
	sampler_take(&s);
	id = gpus(1)->id;
	pass(SECOND_NS);
	nvml_fixture_script(&f, "gpu 3b 50 1000 9000 9 H200\n");
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_energy_uj, 9000);

	nvml_fixture_script(&f, H200 "result nvmlDeviceGetMemoryInfo_v2 15\nresult nvmlInit 9\n");
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -ENODEV);
	expect_masks(0, 0, 0);
	ck_assert_uint_eq(gpus(1)->valid | gpus(1)->estimated, 0);
	pass(2 * SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	expect_masks(0, 0, 0);
	gpus(0);

	/* Its own counter began again. What it used meanwhile is not known. */
	nvml_fixture_script(&f, "gpu 3b 50 1000 9000 2 H200\n");
	pass(10 * SECOND_NS);
	sampler_take(&s);
	expect_masks(RT_HAS_GPU_MEMORY, RT_HAS_GPU_ENERGY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpu_energy_uj, 11000);
	ck_assert_uint_eq(gpus(1)->valid, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 2);
	ck_assert_uint_eq(gpus(1)->id, id);
	ck_assert_uint_eq(gpus(1)->energy_uj, 11000);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
}
END_TEST

/* One of two is lost: the totals keep what it used. */
START_TEST(totals_do_not_fall_when_a_gpu_is_lost)
{
	nvml_fixture_script(&f, H200 "gpu 3c 100 500 600 5 H200\n");
	sampler_take(&s);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 2 * 3);
	nvml_fixture_script(&f, H200 "gpu 3c 100 500 600 5 H200\n"
	                             "result nvmlDeviceGetUtilizationRates 15 1\n");
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -ENODEV);
	expect_masks(0, RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpu_busy_ns, 2 * SECOND_NS);
	ck_assert_uint_eq(s.out.gpu_energy_uj, 12000);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1000);
}
END_TEST

/* How busy it was meanwhile is not known. */
START_TEST(time_without_a_share_does_not_count)
{
	nvml_fixture_script(&f, H200);
	sampler_take(&s);
	nvml_fixture_script(&f, H200 "result nvmlDeviceGetUtilizationRates 3\n");
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	expect_masks(RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, 0, 0);
	nvml_fixture_script(&f, H200);
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.gpu_busy_ns, 0);
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 2);
}
END_TEST

START_TEST(time_without_a_card_does_not_count)
{
	setup.library = "/none/such/libnvidia-ml.so.1";
	write_card(0, "amdgpu", 3, "100\n");
	sampler_take(&s);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
	fixture_remove(&f.files, "sys/class/drm/card0");
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
	write_card(0, "amdgpu", 3, "100\n");
	pass(5 * SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_busy_ns, 2 * SECOND_NS);
}
END_TEST

/* That there is no driver is no loss on a system that never had one, and is one here. */
START_TEST(driver_that_has_gone_makes_a_lower_bound)
{
	write_card(0, "amdgpu", 3, "100\n");
	nvml_fixture_script(&f, H200 "result nvmlInit 9\n");
	sampler_take(&s);
	expect_masks(RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	nvml_fixture_script(&f, H200);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1300);
	nvml_fixture_script(&f, H200 "result nvmlInit 9\nresult nvmlDeviceGetMemoryInfo_v2 15\n");
	pass(SECOND_NS);
	sampler_take(&s);
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	expect_masks(0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 300);
}
END_TEST

START_TEST(processes_have_time_and_memory)
{
	const struct rt_gpu_process *row;

	write_process(71, 500);
	write_process(72, 600);
	nvml_fixture_script(&f, H200 "process 0 c 71 100\nprocess 0 g 72 -1\nprocess 0 c 73 5\n"
	                             "sample 0 71 1000 40 10 0\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	row = processes(2); /* 73 has exited */
	ck_assert_uint_eq(row[0].size, sizeof(*row));
	ck_assert_int_eq(row[0].pid, 71);
	ck_assert_uint_eq(row[0].start_ticks, 500);
	ck_assert_uint_eq(row[0].gpu_id, gpus(1)->id);
	ck_assert_uint_eq(row[0].valid, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(row[0].estimated, RT_HAS_GPU);
	ck_assert_uint_eq(row[0].memory_bytes, 100);
	ck_assert_uint_eq(row[1].valid, 0);
	ck_assert_uint_eq(row[1].memory_bytes, 0);

	nvml_fixture_script(&f, H200 "process 0 c 71 100\nprocess 0 g 72 -1\n"
	                             "sample 0 71 2000 40 10 0\nsample 0 72 2000 10 0 30\n");
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), 0);
	row = processes(2);
	ck_assert_uint_eq(row[0].compute_ns, SECOND_NS / 10 * 4);
	ck_assert_uint_eq(row[0].render_ns, 0);
	ck_assert_uint_eq(row[0].encode_ns, SECOND_NS / 10);
	ck_assert_uint_eq(row[1].render_ns, SECOND_NS / 10);
	ck_assert_uint_eq(row[1].compute_ns, 0);
	ck_assert_uint_eq(row[1].decode_ns, SECOND_NS / 10 * 3);
}
END_TEST

START_TEST(pid_that_is_used_again_begins_at_0)
{
	write_process(71, 500);
	nvml_fixture_script(&f, H200 "process 0 c 71 100\n");
	sampler_take(&s);
	nvml_fixture_script(&f, H200 "process 0 c 71 100\nsample 0 71 2000 40 0 0\n");
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(processes(1)->compute_ns, SECOND_NS / 10 * 4);
	write_process(71, 900);
	pass(SECOND_NS);
	sampler_take(&s);
	ck_assert_uint_eq(processes(1)->start_ticks, 900);
	ck_assert_uint_eq(processes(1)->compute_ns, 0);
}
END_TEST

/* There the same number may be another process. */
START_TEST(processes_in_another_pid_namespace_are_not_listed)
{
	const void *rows;
	size_t count;

	write_process(71, 500);
	fixture_link(&f.files, "proc/self/ns/pid", "pid:[4026532000]");
	nvml_fixture_script(&f, H200 "process 0 c 71 100\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_int_eq(rti_sys_gpu.processes(s.state, &rows, &count), -EXDEV);
	ck_assert_uint_eq(count, 0);
	gpus(1);

	/* Some drivers hide what is outside of a container. */
	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_int_eq(rti_sys_gpu.processes(s.state, &rows, &count), -EXDEV);
}
END_TEST

/* Waits until the library has been called, and hangs there. */
static void wait_for_call(const char *call, int times)
{
	for (int i = 0; i < 20000 && nvml_fixture_calls(&f, call) < times; i++)
		usleep(5000);
	ck_assert_int_ge(nvml_fixture_calls(&f, call), times);
}

static int take_until_answered(void)
{
	int err = sampler_take(&s);

	for (int i = 0; i < 20000 && err == -ETIMEDOUT; i++) {
		usleep(5000);
		err = sampler_take(&s);
	}
	return err;
}

START_TEST(driver_that_hangs_costs_one_wait_and_is_marked)
{
	const char *call = "nvmlDeviceGetUtilizationRates";

	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(sampler_take(&s), 0);
	pass(SECOND_NS);
	nvml_fixture_script(&f, H200 "hang %s\n", call);
	setup.wait_ns = SECOND_NS / 50;
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	expect_masks(0, 0, 0);
	ck_assert_int_eq(rti_sys_gpu.error_of(s.state, RT_HAS_GPU), -ETIMEDOUT);
	wait_for_call(call, 2);

	/* Later samples do not wait, nor do they ask again. An hour is not waited for. */
	setup.wait_ns = 3600 * SECOND_NS;
	for (int i = 0; i < 100; i++) {
		pass(SECOND_NS);
		ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	}
	ck_assert_int_eq(nvml_fixture_calls(&f, call), 2);

	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(take_until_answered(), 0);
	expect_masks(RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY, 0, RT_HAS_GPU);
	/* It was 102 s late, so it was asked anew: half of the time since is busy. */
	ck_assert_int_eq(nvml_fixture_calls(&f, call), 3);
	ck_assert_uint_eq(s.out.gpu_busy_ns, 101 * SECOND_NS / 2);
}
END_TEST

START_TEST(answer_that_is_a_little_late_is_used)
{
	const char *call = "nvmlDeviceGetUtilizationRates";

	nvml_fixture_script(&f, H200 "hang %s\n", call);
	setup.first_wait_ns = SECOND_NS / 50;
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	wait_for_call(call, 1);
	nvml_fixture_script(&f, H200);
	pass(SECOND_NS / 2);
	ck_assert_int_eq(take_until_answered(), 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, call), 1);
	ck_assert_uint_eq(s.out.gpu_memory_bytes, 1000);
}
END_TEST

START_TEST(tracker_is_freed_while_the_driver_hangs)
{
	int before = threads_count_first();

	nvml_fixture_script(&f, H200 "hang nvmlInit\n");
	setup.first_wait_ns = SECOND_NS / 50;
	ck_assert_int_eq(sampler_take(&s), -ETIMEDOUT);
	wait_for_call("nvmlInit", 1);
	sampler_close(&s);

	/* The thread ends once the driver answers. */
	nvml_fixture_script(&f, H200);
	threads_await(before);
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_gpu, f.files.root, NULL, 0), 0);
}
END_TEST

START_TEST(library_is_opened_by_the_first_sample_and_closed_at_the_end)
{
	int before = threads_count_first();

	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 0);
	ck_assert_int_eq(threads_count(), before);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 1);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 0);
	ck_assert_int_eq(threads_count(), before + 1);
	sampler_close(&s);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1);
	threads_await(before);
	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_gpu, f.files.root, NULL, 0), 0);
}
END_TEST

START_TEST(what_is_not_wanted_is_not_asked_for)
{
	s.ctx.want = RT_HAS_GPU_ENERGY;
	nvml_fixture_script(&f, H200 "process 0 c 71 100\n");
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 0);
	s.ctx.want = RT_HAS_GPU;
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetTotalEnergyConsumption"), 1);
	sampler_take(&s);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetTotalEnergyConsumption"), 1);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 1);
}
END_TEST

/* The child has no threads, and must not shut down what the parent uses. */
START_TEST(sample_after_fork_works_in_parent_and_child)
{
	int status;
	pid_t pid;

	nvml_fixture_script(&f, H200);
	ck_assert_int_eq(sampler_take(&s), 0);
	pid = fork();
	if (pid == 0) {
		pass(SECOND_NS);
		if (sampler_take(&s) != 0 || s.out.gpu_busy_ns != SECOND_NS / 2)
			_exit(1);
		if (nvml_fixture_calls(&f, "nvmlShutdown") != 0)
			_exit(2);
		sampler_close(&s);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1); /* that of the child */
	pass(SECOND_NS);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.gpu_busy_ns, SECOND_NS / 2);
}
END_TEST

static void add_figures(Suite *suite)
{
	TCase *figures = suite_case(suite, "figures");

	tcase_add_checked_fixture(figures, set_up, tear_down);
	tcase_add_test(figures, one_gpu_has_all_figures);
	tcase_add_test(figures, busy_time_is_the_share_of_the_time_since_the_last_sample);
	tcase_add_test(figures, system_without_gpu_has_no_figures_and_says_so);
	tcase_add_test(figures, driver_that_refuses_is_the_status);
	tcase_add_test(figures, figure_that_one_gpu_lacks_is_a_lower_bound);
	tcase_add_test(figures, partitions_are_listed_and_not_added);
	tcase_add_test(figures, cards_of_both_sources_are_listed_once);
	tcase_add_loop_test(figures, card_of_another_address_is_another_gpu, 0, 4);
	tcase_add_test(figures, card_without_its_library_makes_a_lower_bound);
	tcase_add_test(figures, card_alone_without_figures_is_listed);
	tcase_add_test(figures, other_root_does_not_ask_the_library);
	tcase_add_test(figures, counters_go_on_after_the_driver_was_loaded_again);
	tcase_add_test(figures, totals_do_not_fall_when_a_gpu_is_lost);
	tcase_add_test(figures, time_without_a_share_does_not_count);
	tcase_add_test(figures, time_without_a_card_does_not_count);
	tcase_add_test(figures, driver_that_has_gone_makes_a_lower_bound);
	tcase_add_test(figures, processes_have_time_and_memory);
	tcase_add_test(figures, pid_that_is_used_again_begins_at_0);
	tcase_add_test(figures, processes_in_another_pid_namespace_are_not_listed);
}

int main(void)
{
	Suite *suite = suite_create("sys_gpu");
	TCase *thread = suite_case(suite, "thread");

	add_figures(suite);
	tcase_add_checked_fixture(thread, set_up, tear_down);
	tcase_add_test(thread, driver_that_hangs_costs_one_wait_and_is_marked);
	tcase_add_test(thread, answer_that_is_a_little_late_is_used);
	tcase_add_test(thread, tracker_is_freed_while_the_driver_hangs);
	tcase_add_test(thread, library_is_opened_by_the_first_sample_and_closed_at_the_end);
	tcase_add_test(thread, what_is_not_wanted_is_not_asked_for);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(thread, sample_after_fork_works_in_parent_and_child);
	return suite_run(suite);
}
