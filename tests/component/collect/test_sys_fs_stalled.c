/* SPDX-License-Identifier: MIT */
/* The file system collector with mounts that do not answer: time limits, threads, close and
 * fork. */
#include "fs_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/thread/worker.h"
#include "suite.h"
#include "threads.h"
#include "util/arith.h"

#define MS UINT64_C(1000000)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

#define THREE_MOUNTS                                                                               \
	"27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n28 1 8:3 / /stalled" OPTIONS               \
	"ext4 /dev/sda3 rw\n"                                                                      \
	"29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n"

/* Three file systems, and a pipe to block an answer with. */
static void make_three(const char *mountinfo, int gate[2])
{
	fixture_write(&fs.root, "proc/1/mountinfo", mountinfo);
	fs_set_answer("/first", 0, 1000, 400, 350);
	fs_set_answer("/stalled", 0, 300, 200, 100);
	fs_set_answer("/last", 0, 50, 40, 30);
	ck_assert_int_eq(pipe(gate), 0);
}

static void take_until_valid(void)
{
	for (int i = 0; i < 500 && sampler_take(&fs.sampler) < 0; i++)
		usleep(10000);
	ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);
}

START_TEST(mount_stalled_from_the_start_is_skipped_until_it_answers)
{
	int gate[2];
	const struct rt_filesystem *row;
	uint64_t fastest = UINT64_MAX;
	int before = threads_count_first();

	make_three(THREE_MOUNTS, gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(0);
	for (int i = 0; i < 20; i++) {
		uint64_t start = now_ns();

		ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
		fastest = rti_min(fastest, now_ns() - start);
		ck_assert_uint_eq(fs.sampler.out.valid, 0);
		ck_assert_uint_eq(fs.sampler.out.partial, RT_HAS_FILESYSTEM);
		ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, 1);
		fs_expect_total(1050, 610, 440, 380, 2);
		row = fs_get_row(1, 3);
		ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
		ck_assert_uint_eq(row->total_bytes, 0);
	}
	/* One sample waits, and the others do not. */
	ck_assert_uint_lt(fastest, 25 * MS);
	ck_assert_int_le(threads_count(), before + 2);

	fs_set_gate("/stalled", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);

	take_until_valid();
	fs_expect_total(1350, 710, 640, 480, 3);
	ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, 0);
	ck_assert_uint_eq(fs_get_row(1, 3)->flags, RT_ITEM_IN_TOTAL);
}
END_TEST

START_TEST(mount_stalled_later_keeps_its_last_figures)
{
	int gate[2];
	const struct rt_filesystem *row;

	make_three(THREE_MOUNTS, gate);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_set_gate("/stalled", gate[0]);
	for (int i = 0; i < 3; i++) {
		fs_set_answer("/last", 0, 50, 40 - (uint64_t)i, 30);
		ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
		row = fs_get_row(1, 3);
		ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
		ck_assert_uint_eq(row->total_bytes, 300); /* from its last answer */
		ck_assert_uint_eq(fs.sampler.out.filesystem_free_bytes, 440 - (uint64_t)i);
	}
	ck_assert_int_eq(write(gate[1], "x", 1), 1);

	fs_set_gate("/stalled", 0);
	take_until_valid();
}
END_TEST

START_TEST(network_mount_stalled_leaves_the_total_valid)
{
	int gate[2];

	make_three("27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n28 1 0:70 / /stalled" OPTIONS
	           "nfs4 server:/x rw\n",
	           gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(RT_OPT_NETWORK_FILESYSTEMS);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);
	ck_assert_uint_eq(fs.sampler.out.valid, RT_HAS_FILESYSTEM);
	ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, 1);

	fs_expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(fs_get_row(1, 2)->flags, RT_ITEM_NETWORK | RT_ITEM_STALLED);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
}
END_TEST

#define STALLED_MOUNTS 10

/* However many mounts stall, the others are queried within a few samples, and the stalled ones
 * never again. */
START_TEST(many_stalled_mounts_do_not_delay_the_others_for_long)
{
	int gate[2];
	char mountinfo[2048];
	static char paths[STALLED_MOUNTS][24];
	size_t len = 0;
	int before = threads_count_first();

	make_three("", gate);
	for (int i = 0; i < STALLED_MOUNTS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/stalled%d", i);
		fs_set_answer(paths[i], 0, 1, 1, 1);
		fs_set_gate(paths[i], gate[0]);
		len +=
		    (size_t)sprintf(mountinfo + len, "%d 1 9:%d / %s" OPTIONS "ext4 /dev/x%d rw\n",
		                    100 + i, i, paths[i], i);
	}
	sprintf(mountinfo + len, "29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n");
	fixture_write(&fs.root, "proc/1/mountinfo", mountinfo);
	fs_open(0);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
	ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, STALLED_MOUNTS);

	fs_expect_total(50, 10, 40, 30, 1);
	ck_assert_int_le(threads_count(), before + STALLED_MOUNTS + 1);

	for (int i = 0; i < STALLED_MOUNTS; i++) {
		fs_set_gate(paths[i], 0);
		ck_assert_int_eq(write(gate[1], "x", 1), 1);
	}
	take_until_valid();
	threads_await(before + 1);
}
END_TEST

START_TEST(close_with_stalled_mount_returns_at_once)
{
	int gate[2];
	uint64_t start;
	int before = threads_count_first();

	make_three(THREE_MOUNTS, gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
	while (!fs_is_asked_by_thread("/stalled")) /* it may have yet to get a CPU */
		usleep(1000);

	start = now_ns();
	sampler_close(&fs.sampler);
	ck_assert_uint_lt(now_ns() - start, 1000 * MS);
	ck_assert_int_eq(threads_count(), before + 1);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);

	threads_await(before);
	fs_set_gate("/stalled", 0);
	fs_open(0);
}
END_TEST

START_TEST(stalled_mount_that_is_unmounted_is_dropped)
{
	int gate[2];

	make_three(THREE_MOUNTS, gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);

	fixture_write(&fs.root, "proc/1/mountinfo",
	              "27 1 8:2 / /first" OPTIONS "ext4 /dev/sda2 rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_expect_total(1000, 600, 400, 350, 1);
	ck_assert_uint_eq(fs.sampler.out.filesystems_skipped, 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
}
END_TEST

/* A change of other mounts neither queries the stalled one again nor drops its last figures. */
START_TEST(stalled_mount_is_not_queried_again_when_others_change)
{
	int gate[2];
	const struct rt_filesystem *row;
	unsigned queries_before;

	make_three(THREE_MOUNTS, gate);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_set_gate("/stalled", gate[0]);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);

	queries_before = fs_count_queries();
	fixture_write(&fs.root, "proc/1/mountinfo",
	              "28 1 8:3 / /stalled" OPTIONS "ext4 /dev/sda3 rw\n"
	              "29 1 8:4 / /last" OPTIONS "ext4 /dev/sda4 rw\n");
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
	ck_assert_uint_eq(fs_count_queries(), queries_before + 1);

	row = fs_get_row(0, 2);
	ck_assert_uint_eq(row->flags, RT_ITEM_STALLED);
	ck_assert_uint_eq(row->total_bytes, 300);

	fs_set_gate("/stalled", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);

	take_until_valid();
	fs_expect_total(350, 110, 240, 130, 2);
}
END_TEST

/* The linker calls these instead of the functions in their names. */
int __real_rti_worker_new(struct rti_worker **out);
int __wrap_rti_worker_new(struct rti_worker **out);
void __real_rti_worker_free(struct rti_worker *worker);
void __wrap_rti_worker_free(struct rti_worker *worker);

static int workers, refusals;

int __wrap_rti_worker_new(struct rti_worker **out)
{
	int err = refusals > 0 ? -ENOMEM : __real_rti_worker_new(out);

	refusals -= refusals > 0;

	workers += err == 0;
	return err;
}

void __wrap_rti_worker_free(struct rti_worker *worker)
{
	workers -= worker != NULL;
	__real_rti_worker_free(worker);
}

/* Returns 0, or the number of what is wrong. */
static int sample_in_child(void)
{
	refusals = 1;
	if (rti_sys_fs.collect(fs.sampler.state, &fs.sampler.ctx, &fs.sampler.out) != -ENOMEM)
		return 3;
	for (int i = 0; i < 3; i++) {
		fs.sampler.out = (struct rt_metrics){ 0 };
		if (rti_sys_fs.collect(fs.sampler.state, &fs.sampler.ctx, &fs.sampler.out) != 0 ||
		    fs.sampler.out.filesystem_total_bytes != 1350)
			return 1;
	}
	rti_sys_fs.close(fs.sampler.state, &fs.sampler.ctx);
	return workers == 0 ? 0 : 2;
}

START_TEST(collector_after_fork_samples_in_both_processes)
{
	int gate[2];
	int status;
	pid_t pid;

	make_three(THREE_MOUNTS, gate);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), 0);

	fs_set_gate("/stalled", gate[0]);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);

	fs_set_gate("/stalled", 0);
	pid = fork();
	if (pid == 0)
		_exit(sample_in_child());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);

	take_until_valid();
	fs_expect_total(1350, 710, 640, 480, 3);
}
END_TEST

/* The first one waits for the mount, and leaves a thread there. The others take it for stalled. */
START_TEST(mount_stalled_in_many_trackers_keeps_one_thread)
{
	enum { TRACKERS = 20 };
	static struct sampler more[TRACKERS];
	int gate[2], before = threads_count_first();

	make_three("28 1 8:3 / /stalled" OPTIONS "ext4 /dev/sda3 rw\n", gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(0);
	ck_assert_int_eq(sampler_take(&fs.sampler), -ETIMEDOUT);
	for (int i = 0; i < TRACKERS; i++) {
		ck_assert_int_eq(sampler_open_with(&more[i], &rti_sys_fs, fs.root.root,
		                                   fs.sampler.procfs.ops, 0),
		                 0);
		ck_assert_int_eq(sampler_take(&more[i]), -ETIMEDOUT);
		ck_assert_uint_eq(more[i].out.partial, RT_HAS_FILESYSTEM);
		ck_assert_uint_eq(more[i].out.filesystems_skipped, 1);
	}
	ck_assert_int_le(threads_count(), before + 1);

	/* Once the call returns, all of them ask again. */
	fs_set_gate("/stalled", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	take_until_valid();
	for (int i = 0; i < TRACKERS; i++) {
		ck_assert_int_eq(sampler_take(&more[i]), 0);
		ck_assert_uint_eq(more[i].out.filesystem_total_bytes, 300);
		sampler_close(&more[i]);
	}
}
END_TEST

/* A tracker that is freed leaves its thread in the call. The next ones leave none. */
START_TEST(mount_stalled_in_trackers_that_come_and_go_keeps_one_thread)
{
	int gate[2], before = threads_count_first();

	make_three("28 1 8:3 / /stalled" OPTIONS "ext4 /dev/sda3 rw\n", gate);
	fs_set_gate("/stalled", gate[0]);
	fs_open(0);
	for (int i = 0; i < 20; i++) {
		struct sampler one;

		ck_assert_int_eq(
		    sampler_open_with(&one, &rti_sys_fs, fs.root.root, fs.sampler.procfs.ops, 0),
		    0);
		ck_assert_int_eq(sampler_take(&one), -ETIMEDOUT);
		sampler_close(&one);
	}
	ck_assert_int_le(threads_count(), before + 1);

	fs_set_gate("/stalled", 0);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	take_until_valid();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_fs_stalled");
	TCase *stalled = suite_case(suite, "stalled mounts");

	tcase_add_checked_fixture(stalled, fs_set_up, fs_tear_down);
	tcase_add_test(stalled, mount_stalled_from_the_start_is_skipped_until_it_answers);
	tcase_add_test(stalled, mount_stalled_later_keeps_its_last_figures);
	tcase_add_test(stalled, network_mount_stalled_leaves_the_total_valid);
	tcase_add_test(stalled, many_stalled_mounts_do_not_delay_the_others_for_long);
	tcase_add_test(stalled, close_with_stalled_mount_returns_at_once);
	tcase_add_test(stalled, mount_stalled_in_many_trackers_keeps_one_thread);
	tcase_add_test(stalled, mount_stalled_in_trackers_that_come_and_go_keeps_one_thread);
	tcase_add_test(stalled, stalled_mount_that_is_unmounted_is_dropped);
	tcase_add_test(stalled, stalled_mount_is_not_queried_again_when_others_change);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(stalled, collector_after_fork_samples_in_both_processes);
	return suite_run(suite);
}
