/* SPDX-License-Identifier: MIT */
/* GPUs of real trees that use none. On a system with a driver of a GPU, what processes used that
 * have exited is not known; on any other it is known to be nothing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define GPU_DOMAINS (RT_HAS_GPU | RT_HAS_GPU_MEMORY)

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool has_driver(void)
{
	return exists("/sys/class/drm") || exists("/dev/dri") || exists("/dev/nvidiactl") ||
	       exists("/proc/driver/nvidia") || exists("/dev/kfd") || exists("/dev/dxg");
}

static void open_other_devices(void *arg)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/urandom" };

	(void)arg;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		ck_assert_int_ge(open(devices[i], O_RDONLY), 0);
}

START_TEST(process_that_opens_other_devices_uses_no_gpu)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU | GPU_DOMAINS };
	struct rt_gpu_process users[4];
	struct rt_tracker *tracker;
	struct rt_gpu gpus[4];
	size_t count = 4;
	struct rt_metrics m;
	struct child child;

	child_start(&child, open_other_devices, NULL);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, child.pid, &opts), 0);
	m = sample(tracker);
	ck_assert_uint_eq(m.valid & GPU_DOMAINS, GPU_DOMAINS);
	ck_assert_uint_eq(m.gpu_busy_ns | m.gpu_memory_bytes | m.gpu_memory_total_bytes, 0);
	ck_assert_uint_eq(m.gpus | m.gpus_used | m.gpu_energy_uj, 0);
	ck_assert_int_eq(rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count), 0);
	ck_assert_uint_eq(count, 0);
	count = 4;
	ck_assert_int_eq(rt_tracker_gpu_processes(tracker, users, sizeof(users[0]), &count), 0);
	ck_assert_uint_eq(count, 0);
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

START_TEST(tree_that_does_not_want_gpus_has_no_lists_of_them)
{
	struct rt_gpu_process users[4];
	struct rt_tracker *tracker = track(getpid());
	struct rt_gpu gpus[4];
	size_t count = 4;

	sample(tracker);
	ck_assert_int_eq(rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_gpu_processes(tracker, users, sizeof(users[0]), &count),
	                 -EOPNOTSUPP);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(command_without_gpu_has_used_none)
{
	const struct rt_opts want = { .size = sizeof(want), .want = RT_HAS_CPU | GPU_DOMAINS };
	const struct rt_command_opts opts = { .size = sizeof(opts), .tracker = &want };
	const struct rt_outcome outcome = run_shell_with(opts, "exec 5</dev/urandom; sleep 0.1");
	uint64_t known = has_driver() ? outcome.partial | outcome.valid : outcome.valid;

	ck_assert_uint_eq(known & GPU_DOMAINS, GPU_DOMAINS);
	ck_assert_uint_eq(outcome.gpu_busy_ns | outcome.gpu_memory_peak_bytes, 0);
}
END_TEST

START_TEST(command_that_does_not_want_gpus_has_no_bit_of_them)
{
	const struct rt_outcome outcome = run_shell("true");

	ck_assert_uint_eq((outcome.valid | outcome.partial | outcome.estimated) & GPU_DOMAINS, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu");
	TCase *tests = suite_case(suite, "tests");

	tcase_add_test(tests, process_that_opens_other_devices_uses_no_gpu);
	tcase_add_test(tests, tree_that_does_not_want_gpus_has_no_lists_of_them);
	tcase_add_test(tests, command_without_gpu_has_used_none);
	tcase_add_test(tests, command_that_does_not_want_gpus_has_no_bit_of_them);
	return suite_run(suite);
}
