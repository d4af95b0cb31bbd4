/* SPDX-License-Identifier: MIT */
/* The lists of GPUs, through a library that stands in for that of NVIDIA's driver. Its folder is in
 * LD_LIBRARY_PATH, and tests/component/gpu/nvml_fixture.h has the lines of its script. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

#define ALL (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)

static struct fixture f;

static void set_up(void)
{
	char path[200];

	fixture_new(&f);
	snprintf(path, sizeof(path), "%s/script", f.root);
	ck_assert_int_eq(setenv("FAKE_NVML_SCRIPT", path, 1), 0);
	snprintf(path, sizeof(path), "%s/log", f.root);
	ck_assert_int_eq(setenv("FAKE_NVML_LOG", path, 1), 0);
	fixture_printf(&f, "script",
	               "gpu 3b 50 1000 9000 7 H200\ngpu 3c 0 500 9000 7 H200\n"
	               "instance 1 200 4000\nprocess 0 c %d 600\nprocess 0 g %d 600\n",
	               (int)getpid(), (int)getpid());
}

static void tear_down(void)
{
	fixture_free(&f);
}

static struct rt_tracker *new_tracker(uint64_t want, const char *root)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = want, .root = root };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, &opts), 0);
	return tracker;
}

START_TEST(gpus_are_listed_with_their_partitions)
{
	struct rt_tracker *tracker = new_tracker(ALL, NULL);
	struct rt_metrics m = sample(tracker);
	struct rt_gpu gpus[8];
	size_t count = 8;

	ck_assert_uint_ge(m.gpus, 2);
	ck_assert_int_eq(rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count), 0);
	ck_assert_uint_ge(count, 3); /* and those that this machine has by DRM */
	ck_assert_uint_eq(gpus[0].size, sizeof(gpus[0]));
	ck_assert_uint_eq(gpus[0].memory_used_bytes, 1000);
	ck_assert_uint_eq(gpus[1].memory_used_bytes, 500);
	ck_assert_uint_eq(gpus[2].memory_used_bytes, 200);
	ck_assert_uint_eq(gpus[2].flags, RT_ITEM_PARTITION);

	/* Less room than rows: all are counted, and no more are written. */
	memset(gpus, FILLED, sizeof(gpus));
	count = 1;
	ck_assert_int_eq(rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count), 0);
	ck_assert_uint_ge(count, 3);
	ck_assert_str_eq(gpus[0].uuid, "GPU-3b");
	ck_assert(is_filled(&gpus[1], sizeof(gpus[1])));
	rt_tracker_free(tracker);
}
END_TEST

static bool is_first_pid_namespace(void)
{
	char name[64];
	ssize_t len = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	return strcmp(name, "pid:[4026531836]") == 0;
}

START_TEST(process_on_a_gpu_is_one_row)
{
	struct rt_tracker *tracker = new_tracker(RT_HAS_GPU_MEMORY, NULL);
	struct rt_gpu_process rows[2];
	size_t count = 2;
	int err;

	sample(tracker);
	err = rt_tracker_gpu_processes(tracker, rows, sizeof(rows[0]), &count);
	ck_assert_int_eq(err, is_first_pid_namespace() ? 0 : -ENODATA);
	if (err == 0) {
		ck_assert_uint_eq(count, 1);
		ck_assert_int_eq(rows[0].pid, getpid());
		ck_assert_uint_gt(rows[0].start_ticks, 0);
		ck_assert_uint_eq(rows[0].valid, RT_HAS_GPU_MEMORY);
		ck_assert_uint_eq(rows[0].memory_bytes, 600);
	}
	rt_tracker_free(tracker);
}
END_TEST

/* Nothing of the driver is opened. */
START_TEST(default_domains_leave_gpus_alone)
{
	struct rt_tracker *tracker = new_tracker(0, NULL), *alone;
	char path[200];

	sample(tracker);
	rt_tracker_free(tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&alone, getpid(), NULL), 0);
	sample(alone);
	rt_tracker_free(alone);
	snprintf(path, sizeof(path), "%s/log", f.root);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(another_root_has_the_cards_of_its_files)
{
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct rt_gpu gpu;
	size_t count = 1;

	fixture_write(&f, "sys/class/drm/card0/device/uevent",
	              "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
	fixture_mkdir(&f, "sys/class/drm/card0/device/drm/renderD128");
	fixture_write(&f, "sys/class/drm/card0/device/gpu_busy_percent", "25\n");
	tracker = new_tracker(ALL, f.root);
	m = sample(tracker);
	ck_assert_uint_eq(m.valid | m.partial, 0);
	ck_assert_uint_eq(m.estimated, RT_HAS_GPU);
	ck_assert_uint_eq(m.gpus, 1);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_GPU_MEMORY), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_GPU), -ENODATA);
	ck_assert_int_eq(rt_tracker_gpus(tracker, &gpu, sizeof(gpu), &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(gpu.driver, "amdgpu");
	ck_assert(gpu.busy_share == 0.25);
	ck_assert_int_eq(
	    rt_tracker_gpu_processes(tracker, NULL, sizeof(struct rt_gpu_process), &(size_t){ 0 }),
	    -ENODATA);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpus");
	TCase *lists = suite_case(suite, "lists");

	tcase_add_checked_fixture(lists, set_up, tear_down);
	tcase_add_test(lists, gpus_are_listed_with_their_partitions);
	tcase_add_test(lists, process_on_a_gpu_is_one_row);
	tcase_add_test(lists, default_domains_leave_gpus_alone);
	tcase_add_test(lists, another_root_has_the_cards_of_its_files);
	return suite_run(suite);
}
