/* SPDX-License-Identifier: MIT */
/* The first sample of a tree: a member may run or exit, and its pid be reused, after it was found
 * and before its account is read. The CPU clocks are the test's. */
#include "tree_fixture.h"

#include <errno.h>

#include "tree_inside.h"

#define FIRST_PID 100
#define PIDS 5
#define RUN_NS 1000

static uint64_t clock_ns[PIDS]; /* of each process; 0: there is none */

static int read_clock(int32_t pid, struct rti_cpu_clock *out)
{
	uint64_t ns = pid >= FIRST_PID && pid < FIRST_PID + PIDS ? clock_ns[pid - FIRST_PID] : 0;

	*out = (struct rti_cpu_clock){ ns, 1, 1, ns };
	return ns ? 0 : -ESRCH;
}

static const struct fake_process grandchild = {
	.pid = 103,
	.ppid = 101,
	.comm = "grandchild",
	.minflt = 3,
	.starttime = 1030,
	.rss_pages = 2,
	.children = "",
};

/* The shell has two children, and the first of these has two. */
static void track_family(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .root = fix.root.root };
	struct fake_process parent = first_child, last = grandchild;

	write_family();
	parent.children = "103 104 ";
	fake_process_write(&fix.root, &parent);
	fake_process_write(&fix.root, &grandchild);
	last.pid = 104;
	last.starttime++;
	fake_process_write(&fix.root, &last);
	for (size_t i = 0; i < PIDS; i++)
		clock_ns[i] = 7000 + i;
	ck_assert_int_eq(rti_tracker_new(&fix.tracker, FIRST_PID, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
	get_platform(fix.tracker)->cpu_clock = read_clock;
}

/* Another process has the pid of the first child. */
static void reuse_pid(void *arg)
{
	struct fake_process unrelated = first_child;

	(void)arg;
	unrelated.ppid = 1;
	unrelated.starttime = 9999;
	unrelated.minflt = 100000;
	unrelated.children = "103 104 ";
	fake_process_write(&fix.root, &unrelated);
	clock_ns[1] = 9000;
}

static void run_first_child(void *arg)
{
	struct fake_process ran = first_child;

	(void)arg;
	ran.minflt += 500;
	ran.children = "103 104 ";
	fake_process_write(&fix.root, &ran);
	clock_ns[1] += RUN_NS;
}

START_TEST(members_that_stand_still_have_all_their_figures)
{
	struct rt_metrics m;

	track_family();

	m = take_sample();

	ck_assert_uint_eq(m.processes, PIDS);
	ck_assert_uint_eq(m.minor_faults, 50 + 70 + 5 + 3 + 3);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 5 * 7000 + 10);
}
END_TEST

/* stat that was read when it was found is not of now. */
START_TEST(member_that_ran_since_it_was_found_has_figures_of_now)
{
	track_family();
	faults_before_open("101/io", run_first_child, NULL);

	ck_assert_uint_eq(take_sample().minor_faults, 50 + 570 + 5 + 3 + 3);
}
END_TEST

/* io is that of the other process, so no figure of the first child is known. */
START_TEST(process_that_reuses_the_pid_of_a_new_member_is_no_member)
{
	struct rt_metrics m;

	track_family();
	faults_before_open("101/io", reuse_pid, NULL);

	m = take_sample();

	ck_assert_uint_eq(m.processes, PIDS - 1);
	ck_assert_uint_lt(m.minor_faults, 100000);
	ck_assert(!has_member(fix.tracker, 101));
}
END_TEST

/* The second grandchild is named by the list of children of the first child, and names that as its
 * parent. By then another process has the pid. */
START_TEST(child_of_a_process_that_reuses_the_pid_of_a_new_member_is_no_member)
{
	track_family();
	faults_before_open("104/stat", reuse_pid, NULL);

	ck_assert_uint_eq(take_sample().processes, PIDS - 2);
	ck_assert(has_member(fix.tracker, 103));
	ck_assert(!has_member(fix.tracker, 104));
}
END_TEST

/* The clock of the parent has moved, so its stat shows that it is there. */
START_TEST(child_of_a_process_that_runs_is_a_member)
{
	track_family();
	faults_before_open("104/stat", run_first_child, NULL);

	ck_assert_uint_eq(take_sample().processes, PIDS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("first sample");
	TCase *accounts = add_tree_case(suite, "accounts"),
	      *parents = add_tree_case(suite, "parents");

	tcase_add_test(accounts, members_that_stand_still_have_all_their_figures);
	tcase_add_test(accounts, member_that_ran_since_it_was_found_has_figures_of_now);
	tcase_add_test(accounts, process_that_reuses_the_pid_of_a_new_member_is_no_member);
	tcase_add_test(parents,
	               child_of_a_process_that_reuses_the_pid_of_a_new_member_is_no_member);
	tcase_add_test(parents, child_of_a_process_that_runs_is_a_member);
	return suite_run(suite);
}
