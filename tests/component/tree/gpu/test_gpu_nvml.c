/* SPDX-License-Identifier: MIT */
/* GPUs of NVIDIA that members of a tree use, on a fake NVML. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gpu/nvml_fixture.h"
#include "gpu_fixture.h"

#define BOTH GPU_DOMAINS
#define H200 "gpu 3b 50 1000 9000 7 H200\n"

static struct nvml_fixture nvml;
static struct rti_nvml_setup setup;

static void set_up(void)
{
	nvml_fixture_new(&nvml);
	setup = (struct rti_nvml_setup){ nvml_fixture_library(3), 90 * SECOND_NS, 90 * SECOND_NS };
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	fix.tracker = NULL;
	nvml_fixture_free(&nvml);
}

/* A shell, a process that uses a GPU, and one that does not. */
static void write_tree(void)
{
	install_driver();
	write_process(100, 1, "101 102 ");
	write_process(101, 100, "");
	write_process(102, 100, "");
	open_fd(101, 6, "/dev/nvidiactl", NULL);
	open_fd(101, 7, "/dev/nvidia0", NULL);
	track_with_nvml(100, &setup);
}

START_TEST(shares_of_members_become_time)
{
	const struct rt_gpu_process *user;
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nprocess 0 c 999 50\n"
	                                "sample 0 101 1000 40 10 0\nsample 0 999 1000 60 0 0\n");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_busy_ns, 0); /* no time has passed */
	ck_assert_uint_eq(m.gpu_memory_bytes, 100);
	ck_assert_uint_eq(m.gpu_memory_total_bytes, 9000);
	ck_assert_uint_eq(m.gpus, 1);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nprocess 0 c 999 50\n"
	                                "sample 0 101 2000 40 10 0\nsample 0 999 2000 60 0 0\n");
	m = take_sample();
	ck_assert_uint_eq(m.gpu_busy_ns, SECOND_NS / 2);
	ck_assert_uint_eq(m.gpus_used, 1);
	user = list_users(1);
	ck_assert_int_eq(user->pid, 101);
	ck_assert_uint_eq(user->start_ticks, 1101);
	ck_assert_uint_eq(user->compute_ns, SECOND_NS / 10 * 4);
	ck_assert_uint_eq(user->encode_ns, SECOND_NS / 10);
	ck_assert_uint_eq(list_gpus(1)->memory_used_bytes, 100);
	ck_assert_uint_eq(list_gpus(1)->busy_ns, SECOND_NS / 2);
	ck_assert_uint_eq(list_gpus(1)->source, RT_GPU_NVML);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENODATA);
}
END_TEST

START_TEST(library_is_not_opened_without_a_device_of_nvidia)
{
	struct rt_metrics m;

	install_driver();
	write_process(100, 1, "");
	open_fd(100, 3, "/dev/urandom", NULL);
	track_with_nvml(100, &setup);
	nvml_fixture_script(&nvml, H200);
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	ck_assert_int_eq(nvml_fixture_calls(&nvml, "nvmlInit"), 0);
}
END_TEST

START_TEST(device_without_work_is_no_use)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 999 50\n");
	m = take_sample();
	expect_masks(&m, BOTH, 0, 0);
	ck_assert_uint_eq(m.gpus | m.gpu_memory_bytes, 0);
	ck_assert_int_eq(nvml_fixture_calls(&nvml, "nvmlInit"), 1);
}
END_TEST

/* Its driver's DRM device has no figures, and need not have them. */
START_TEST(drm_device_of_nvidia_is_that_of_the_library)
{
	struct rt_metrics m;

	write_tree();
	open_fd(102, 5, "/dev/dri/renderD128", "drm-driver:\tnvidia-drm\n");
	open_fd(101, 9, "/dev/dri/renderD128", NULL);
	nvml_fixture_script(&nvml, H200 "process 0 g 102 70\n");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 70);
	ck_assert_uint_eq(m.gpus, 1);
}
END_TEST

START_TEST(process_in_several_lists_counts_once)
{
	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nprocess 0 g 101 100\n"
	                                "process 0 m 101 100\n");
	ck_assert_uint_eq(take_sample().gpu_memory_bytes, 100);
	list_users(1);
}
END_TEST

START_TEST(memory_that_is_not_known_makes_a_lower_bound)
{
	struct rt_metrics m;

	write_tree();
	open_fd(102, 7, "/dev/nvidia0", NULL);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 -1\nprocess 0 c 102 30\n");
	m = take_sample();
	expect_masks(&m, 0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 30);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), -EOPNOTSUPP);
}
END_TEST

/* E.g.: a device that works in the memory of the machine. Its processes are known all the same. */
START_TEST(device_without_memory_of_its_own_is_a_matter_of_memory_alone)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "result nvmlDeviceGetMemoryInfo_v2 3\n"
	                                "result nvmlDeviceGetMemoryInfo 3\n"
	                                "process 0 c 101 30\nsample 0 101 1000 40 10 0\n");
	m = take_sample();
	expect_masks(&m, 0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 30);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENODATA);
	list_users(1);
}
END_TEST

START_TEST(shares_that_are_not_supported_make_a_lower_bound)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\n"
	                                "result nvmlDeviceGetProcessUtilization 3\n");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -EOPNOTSUPP);
}
END_TEST

/* As a training job has it: two processes, each of which works on two devices. */
START_TEST(member_without_shares_of_two_devices_counts_once)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	write_tree();
	open_fd(102, 7, "/dev/nvidia0", NULL);
	nvml_fixture_script(&nvml, H200 "gpu 4c 50 1000 9000 7 H200\n"
	                                "process 0 c 101 100\nprocess 0 c 102 100\n"
	                                "process 1 c 101 100\nprocess 1 c 102 100\n"
	                                "result nvmlDeviceGetProcessUtilization 3\n");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_int_eq(rt_tracker_obstacle(fix.tracker, RT_HAS_GPU, &obstacle, sizeof(obstacle)),
	                 0);
	ck_assert_uint_eq(obstacle.members, 2);
	ck_assert_uint_eq(take_sample().partial & BOTH, RT_HAS_GPU);
}
END_TEST

START_TEST(use_of_partitions_is_part_of_their_device)
{
	struct rt_metrics m;
	const struct rt_gpu *gpu;

	write_tree();
	nvml_fixture_script(&nvml, H200 "instance 0 300 4000\ninstance 0 200 4000\n"
	                                "process 101 c 101 60\n");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, RT_HAS_GPU, 0);
	ck_assert_uint_eq(m.gpus, 1);
	ck_assert_uint_eq(m.gpu_memory_bytes, 60);
	ck_assert_uint_eq(m.gpu_memory_total_bytes, 9000);
	gpu = list_gpus(2);
	ck_assert_uint_eq(gpu[0].flags, RT_ITEM_IN_TOTAL);
	ck_assert_uint_eq(gpu[0].memory_used_bytes, 60);
	ck_assert_uint_eq(gpu[1].flags, RT_ITEM_PARTITION);
	ck_assert_uint_eq(gpu[1].memory_used_bytes, 60);
	ck_assert_uint_eq(list_users(1)->gpu_id, gpu[1].id);
}
END_TEST

static const struct {
	const char *script;
	int err;
} failures[] = {
	{ H200 "result nvmlInit 9\n", -ENOENT },
	{ H200 "result nvmlInit 4\n", -EACCES },
	{ H200 "result nvmlInit 18\n", -EPROTONOSUPPORT },
	{ H200 "result nvmlDeviceGetComputeRunningProcesses_v3 4\nprocess 0 g 101 5\n", -EACCES },
};

START_TEST(driver_that_refuses_makes_a_lower_bound)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, "%s", failures[_i].script);
	m = take_sample();
	ck_assert_uint_eq(m.valid & BOTH, 0);
	ck_assert_uint_eq(m.partial & BOTH, BOTH & ~m.estimated);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), failures[_i].err);
	ck_assert_int_eq(
	    rt_tracker_obstacle(fix.tracker, RT_HAS_GPU_MEMORY, &obstacle, sizeof(obstacle)), 0);
	ck_assert_int_eq(obstacle.pid, 101);
	ck_assert_uint_eq(obstacle.members, 1);
	ck_assert_uint_gt(strlen(obstacle.text), 20);
}
END_TEST

START_TEST(system_without_the_library_makes_a_lower_bound)
{
	struct rt_metrics m;

	setup.library = "/none/such/libnvidia-ml.so.1";
	write_tree();
	m = take_sample();
	expect_masks(&m, 0, BOTH, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -ENOENT);
}
END_TEST

START_TEST(other_pid_namespace_has_other_processes)
{
	struct rt_metrics m;

	write_tree();
	fixture_link(&fix.root, "proc/self/ns/pid", "pid:[4026532999]");
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\n");
	m = take_sample();
	expect_masks(&m, 0, BOTH, 0);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU), -EXDEV);
	ck_assert_int_eq(nvml_fixture_calls(&nvml, "nvmlInit"), 0);
}
END_TEST

START_TEST(time_of_an_exited_member_stays)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 1000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 2000 50 0 0\n");
	ck_assert_uint_eq(take_sample().gpu_busy_ns, SECOND_NS / 2);
	fake_process_remove(&fix.root, 101);
	write_process(100, 1, "102 ");
	m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_busy_ns, SECOND_NS / 2);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
	list_users(0);
}
END_TEST

START_TEST(gpu_that_is_lost_is_marked_and_found_again)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 1000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 2000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "result nvmlDeviceGetMemoryInfo_v2 15\n"
	                                "result nvmlInit 9\n");
	m = take_sample();
	ck_assert_uint_eq(m.valid & BOTH, 0);
	ck_assert_uint_eq(m.gpu_busy_ns, SECOND_NS / 2);
	ck_assert_int_lt(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), 0);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 9000 50 0 0\n");
	for (int i = 0; i < 70 && !(m.valid & RT_HAS_GPU_MEMORY); i++)
		m = take_sample();
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 100);
	ck_assert_uint_eq(m.gpu_busy_ns, SECOND_NS / 2);
}
END_TEST

/* The test waits for the state of the library; it does not depend on how fast that is. */
START_TEST(driver_that_hangs_is_marked_and_not_waited_for_twice)
{
	const char *call = "nvmlDeviceGetUtilizationRates";
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 1000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nhang %s\n", call);
	setup.wait_ns = SECOND_NS / 50;
	m = take_sample();
	expect_masks(&m, 0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_GPU_MEMORY), -ETIMEDOUT);
	setup.wait_ns = 3600 * SECOND_NS;
	for (int i = 0; i < 10; i++)
		m = take_sample();
	expect_masks(&m, 0, RT_HAS_GPU_MEMORY, RT_HAS_GPU);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 9000 50 0 0\n");
	for (int i = 0; i < 20000 && !(m.valid & RT_HAS_GPU_MEMORY); i++) {
		m = take_sample();
		usleep(5000);
	}
	expect_masks(&m, RT_HAS_GPU_MEMORY, 0, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpu_memory_bytes, 100);
}
END_TEST

/* It is of the time at which the library was asked: half of the second before. */
START_TEST(time_until_a_late_answer_counts)
{
	struct rt_metrics m;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 1000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 2000 50 0 0\n"
	                                "hang nvmlDeviceGetUtilizationRates\n");
	setup.wait_ns = SECOND_NS / 50;
	take_sample();
	m = take_sample_after(SECOND_NS / 10);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 2000 50 0 0\n");
	for (int i = 0; i < 20000 && !(m.valid & RT_HAS_GPU_MEMORY); i++) {
		m = take_sample_after(0);
		usleep(5000);
	}
	ck_assert_uint_eq(m.gpu_busy_ns, SECOND_NS / 2);
}
END_TEST

/* The process of this number is another one, which the library lists before it is a member. */
START_TEST(reused_pid_begins_at_nothing)
{
	const struct rt_gpu_process *user;

	write_tree();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 1000 50 0 0\n");
	take_sample();
	nvml_fixture_script(&nvml, H200 "process 0 c 101 100\nsample 0 101 2000 50 0 0\n");
	take_sample();
	fake_process_remove(&fix.root, 101);
	fake_process_write(
	    &fix.root,
	    &(struct fake_process){
		.pid = 101, .ppid = 100, .starttime = 9000, .rss_pages = 10, .children = "" });
	open_fd(101, 7, "/dev/nvidia0", NULL);
	nvml_fixture_script(&nvml, H200 "process 0 c 101 20\nsample 0 101 3000 50 0 0\n");
	take_sample();
	ck_assert_uint_eq(take_sample().gpu_memory_bytes, 20);
	user = list_users(1);
	ck_assert_uint_eq(user->start_ticks, 9000);
	ck_assert_uint_lt(user->compute_ns, SECOND_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_nvml");
	TCase *tests = add_gpu_case(suite, "tests");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, shares_of_members_become_time);
	tcase_add_test(tests, library_is_not_opened_without_a_device_of_nvidia);
	tcase_add_test(tests, device_without_work_is_no_use);
	tcase_add_test(tests, drm_device_of_nvidia_is_that_of_the_library);
	tcase_add_test(tests, process_in_several_lists_counts_once);
	tcase_add_test(tests, memory_that_is_not_known_makes_a_lower_bound);
	tcase_add_test(tests, device_without_memory_of_its_own_is_a_matter_of_memory_alone);
	tcase_add_test(tests, shares_that_are_not_supported_make_a_lower_bound);
	tcase_add_test(tests, member_without_shares_of_two_devices_counts_once);
	tcase_add_test(tests, use_of_partitions_is_part_of_their_device);
	tcase_add_loop_test(tests, driver_that_refuses_makes_a_lower_bound, 0,
	                    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tests, system_without_the_library_makes_a_lower_bound);
	tcase_add_test(tests, other_pid_namespace_has_other_processes);
	tcase_add_test(tests, time_of_an_exited_member_stays);
	tcase_add_test(tests, gpu_that_is_lost_is_marked_and_found_again);
	tcase_add_test(tests, driver_that_hangs_is_marked_and_not_waited_for_twice);
	tcase_add_test(tests, time_until_a_late_answer_counts);
	tcase_add_test(tests, reused_pid_begins_at_nothing);
	return suite_run(suite);
}
