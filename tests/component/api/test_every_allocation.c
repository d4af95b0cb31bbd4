/* SPDX-License-Identifier: MIT */
/* Each allocation of two samples fails, once or from then on: the call says so or its figures do,
 * and nothing stays allocated. */
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "allocation_faults.h"
#include "children.h"
#include "subjects.h"
#include "suite.h"

#define ALLOCATIONS_MAX 2000
#define CHILDREN 17 /* more than the first room for pids */

/* Returns whether the allocation was reached. */
static bool run_with_fault(int subject, unsigned at, bool is_lasting, struct subject_run *out)
{
	bool is_reached;

	allocation_faults_begin(at, is_lasting);
	subject_run(subject, &rti_procfs_linux, out);
	is_reached = allocation_faults_end();
	ck_assert_msg(allocation_faults_blocks() == 0, "%s: allocation %u fails: %d blocks stay",
	              subject_name(subject), at, allocation_faults_blocks());
	return is_reached;
}

static void check_allocations(int subject, bool is_lasting)
{
	static struct subject_run truth, run;
	unsigned at = 1;

	subject_mount(subject);
	run_with_fault(subject, 0, is_lasting, &truth);
	ck_assert_int_eq(truth.open_error, 0);
	ck_assert_uint_ne(truth.samples[1].valid, 0);
	for (; run_with_fault(subject, at, is_lasting, &run); at++) {
		char what[64];

		snprintf(what, sizeof(what), "%s: allocation %u fails", subject_name(subject), at);
		ck_assert_msg(run.open_error == 0 || run.open_error == -ENOMEM, "%s: %d", what,
		              run.open_error);
		subject_check(&truth, &run, what);
	}
	ck_assert_uint_gt(at, 3);
	ck_assert_uint_lt(at, ALLOCATIONS_MAX);
}

static void check_every_allocation(int subject)
{
	check_allocations(subject, false);
	check_allocations(subject, true);
}

START_TEST(want_of_memory_in_any_allocation_of_a_tree_is_marked)
{
	check_every_allocation(0);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_system_is_marked)
{
	check_every_allocation(1);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_cgroup_is_marked)
{
	check_every_allocation(2);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_cgroup_of_v1_is_marked)
{
	check_every_allocation(3);
}
END_TEST

START_TEST(want_of_memory_in_any_allocation_of_a_tree_with_gpus_is_marked)
{
	check_every_allocation(4);
}
END_TEST

static void do_nothing(void *unused)
{
	(void)unused;
}

/* What the calls have given. */
static struct {
	int32_t pids[CHILDREN];
	size_t count;
	struct rt_process row;
	struct rt_rusage use;
	uint32_t valid;
} got;

static int list_children(void)
{
	got.count = CHILDREN;
	return rt_pid_descendants(getpid(), got.pids, &got.count);
}

static int read_parent(void)
{
	return rt_pid_read(getppid(), RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO, &got.row,
	                   sizeof(got.row));
}

static int get_rusage(void)
{
	return rt_pid_getrusage(getpid(), &got.use, &got.valid);
}

static int get_rusage_of_parent(void)
{
	return rt_pid_getrusage(getppid(), &got.use, &got.valid);
}

static bool has_listed(void)
{
	return got.count == CHILDREN && got.pids[CHILDREN - 1] > 0;
}

static bool has_read(void)
{
	return got.row.pid == getppid() && got.row.rss_bytes > 0;
}

static bool has_rusage(void)
{
	return got.use.ru_maxrss > 0;
}

static const struct {
	int (*call)(void);
	bool (*is_good)(void);
} calls[] = {
	{ list_children, has_listed },
	{ read_parent, has_read },
	{ get_rusage, has_rusage },
	{ get_rusage_of_parent, has_rusage },
};

#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

/* There is no sample in which it could be marked. */
START_TEST(want_of_memory_in_any_allocation_of_one_call_is_an_error)
{
	struct child children[CHILDREN];
	bool is_reached;
	unsigned at = 0;
	int err;

	for (int i = 0; i < CHILDREN; i++)
		child_start(&children[i], do_nothing, NULL);
	do {
		allocation_faults_begin(at, false);
		err = calls[_i].call();
		is_reached = allocation_faults_end();
		ck_assert_msg(err == (is_reached ? -ENOMEM : 0), "allocation %u fails: %d", at,
		              err);
		ck_assert(err < 0 || calls[_i].is_good());
		ck_assert_int_eq(allocation_faults_blocks(), 0);
	} while (at++ == 0 || is_reached);
	ck_assert_uint_gt(at, 2);
	for (int i = CHILDREN; i-- > 0;) /* each holds descriptors of those before it */
		child_end(&children[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every allocation");
	TCase *tests = suite_case(suite, "allocations");

	tcase_add_checked_fixture(tests, subjects_set_up, subjects_tear_down);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_tree_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_system_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_cgroup_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_cgroup_of_v1_is_marked);
	tcase_add_test(tests, want_of_memory_in_any_allocation_of_a_tree_with_gpus_is_marked);
	tcase_add_loop_test(tests, want_of_memory_in_any_allocation_of_one_call_is_an_error, 0,
	                    CALLS);
	return suite_run(suite);
}
