/* SPDX-License-Identifier: MIT */
/* Each allocation for the ZFS pools fails, once or from then on: the figures are right or missing,
 * later samples are right again, and nothing stays allocated. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocation_faults.h"
#include "collect/collector.h"
#include "collect/sys_zfs.h"
#include "fixture.h"
#include "sampler.h"
#include "suite.h"
#include "threads.h"

extern const struct rti_sys_collector rti_sys_zfs;

#define SECOND_NS UINT64_C(1000000000)
#define ALLOCATIONS_MAX 200
#define ANSWERS 2

static struct fixture f;
static struct sampler s;
static char program[256];
static const char *const programs[] = { program, NULL };
static const struct rti_zfs_setup setup = { programs, 20 * SECOND_NS };
static uint64_t fake_now_ns;

static int zfs_access(int dirfd, const char *path)
{
	return strcmp(path, "spl/kstat/zfs") == 0 ? 0 : rti_procfs_linux.access(dirfd, path);
}

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ .monotonic_ns = fake_now_ns };
}

/* The program is renamed into place, since a file that is open for writing cannot be executed. */
static void set_up(void)
{
	char draft[300];

	fixture_new(&f);
	fixture_write(&f, "draft", "#!/bin/sh\nprintf 'tank\\t1000\\t300\\t700\\n'\n");
	snprintf(draft, sizeof(draft), "%s/draft", f.root);
	snprintf(program, sizeof(program), "%s/zpool", f.root);
	ck_assert_int_eq(chmod(draft, 0755), 0);
	ck_assert_int_eq(rename(draft, program), 0);
	fake_now_ns = 1000 * SECOND_NS;
}

static void tear_down(void)
{
	fixture_free(&f);
}

/* All but open(), which the faults are for. */
static void prepare(void)
{
	static struct rti_sys_collector closed;
	static struct rti_procfs_ops ops;

	closed = rti_sys_zfs;
	closed.open = NULL;
	ops = rti_procfs_linux;
	ops.access = zfs_access;
	ck_assert_int_eq(sampler_open_with(&s, &closed, NULL, &ops, 0), 0);
	s.platform.now = fake_now;
}

static int open_collector(void)
{
	int err = rti_sys_zfs.open(s.state, &s.ctx);

	if (err == 0)
		rti_sys_zfs_set_up(s.state, &setup);
	return err;
}

/* What is left after the collector was closed. */
static void clean_up(void)
{
	free(s.state);
	rti_procfs_close(&s.procfs);
}

/* Take samples until the program has answered. Returns the last result. */
static int take_answer(void)
{
	int err = sampler_take(&s);

	for (int i = 0; i < 2000 && err == -ETIMEDOUT; i++) {
		usleep(10000);
		err = sampler_take(&s);
	}
	return err;
}

/* Returns 0, or the number of what is wrong. */
static int check_sample(int err)
{
	if (err < 0)
		return s.out.valid | s.out.partial ? 1 : 0;
	return s.out.valid == RT_HAS_ZFS && s.out.zfs_pools == 1 && s.out.zfs_size_bytes == 1000 &&
	               s.out.zfs_allocated_bytes == 300 && s.out.zfs_free_bytes == 700
	           ? 0
	           : 2;
}

static void check_sample_of(unsigned at, int err)
{
	allocation_faults_pause(true);
	ck_assert_msg(err == 0 || err == -ENOMEM, "allocation %u fails: %d", at, err);
	ck_assert_msg(check_sample(err) == 0, "allocation %u fails: a wrong figure", at);
	allocation_faults_pause(false);
}

/* With memory, the next run of the program answers. Until then, the last result counts. */
static void check_recovery(unsigned at)
{
	int err = take_answer();

	for (int i = 0; i < 2000 && err < 0; i++) {
		usleep(10000);
		err = take_answer();
	}
	ck_assert_msg(err == 0, "allocation %u fails: %d later", at, err);
	check_sample_of(at, err);
	rti_sys_zfs.close(s.state, &s.ctx);
}

/* Returns whether the allocation was reached. */
static bool run_with_fault(unsigned at, bool is_lasting)
{
	int opened, blocks;
	bool is_reached;

	prepare();
	allocation_faults_begin(at, is_lasting);
	opened = open_collector();
	for (int i = 0; opened == 0 && i < ANSWERS; i++) {
		check_sample_of(at, take_answer());
		fake_now_ns += 31 * SECOND_NS;
	}
	is_reached = allocation_faults_end();
	blocks = allocation_faults_blocks();
	allocation_faults_begin(0, false);
	if (opened == 0)
		check_recovery(at);
	allocation_faults_end();
	blocks += allocation_faults_blocks();
	ck_assert_msg(blocks == 0, "allocation %u fails: %d blocks stay", at, blocks);
	clean_up();
	return is_reached;
}

START_TEST(want_of_memory_in_any_allocation_for_zfs_is_an_error)
{
	unsigned at = 1;

	ck_assert(!run_with_fault(0, false));
	while (run_with_fault(at, _i))
		ck_assert_uint_lt(at++, ALLOCATIONS_MAX);
	ck_assert_uint_gt(at, 3);
}
END_TEST

/* The child has no thread, and no memory for a worker of its own at first. Until it has one, the
 * last answer counts. Returns 0, or the number of what is wrong. */
static int sample_in_child(unsigned at)
{
	int err;

	allocation_faults_begin(at, false);
	err = sampler_take(&s);
	if (!allocation_faults_end() || err != 0 || check_sample(err) != 0)
		return 10;
	if (at == 2) {
		fake_now_ns += 31 * SECOND_NS;
		err = take_answer();
	}
	rti_sys_zfs.close(s.state, &s.ctx);
	return err == 0 ? check_sample(err) : 11;
}

START_TEST(collector_after_fork_without_memory_recovers)
{
	int status;
	pid_t pid;

	prepare();
	ck_assert_int_eq(open_collector(), 0);
	ck_assert_int_eq(take_answer(), 0);
	pid = fork();
	if (pid == 0)
		_exit(sample_in_child((unsigned)_i));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(check_sample(sampler_take(&s)), 0);
	rti_sys_zfs.close(s.state, &s.ctx);
	clean_up();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zfs_allocations");
	TCase *tests = suite_case(suite, "allocations");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, want_of_memory_in_any_allocation_for_zfs_is_an_error, 0, 2);
	if (!IS_THREAD_SANITIZED)
		tcase_add_loop_test(tests, collector_after_fork_without_memory_recovers, 1, 3);
	return suite_run(suite);
}
