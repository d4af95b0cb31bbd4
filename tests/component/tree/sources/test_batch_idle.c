/* SPDX-License-Identifier: MIT */
/* Rows of idle members in a batch read. A member that has used no CPU time since its last read is
 * skipped: its row has only a marker, and its figures stay as they were. */
#include "tree/batch_tree_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tree/tree_inside.h"

START_TEST(rows_of_idle_members_are_skipped_and_figures_equal_text)
{
	struct rt_metrics before = stop_and_batch_read(), m, text;

	ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE); /* RSS was due, and the same */

	for (int i = 0; i < 3; i++) {
		m = take_sample_after(SOON);
		ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
		ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE);
		check_equal(&m, &before);
	}

	forbid_batch_reader(fix.tracker);
	forget_clocks(fix.tracker);
	text = take_sample();
	check_equal(&m, &text);
}
END_TEST

START_TEST(row_of_member_that_ran_briefly_is_not_skipped)
{
	stop_and_batch_read();
	family_continue(&fix.family);

	for (size_t i = 0; i < 3 * TREE; i++) {
		int32_t pid = get_pid(i % TREE);
		uint64_t before_ns, before_switches;

		take_sample_after(SOON);
		before_ns = get_member_cpu_ns(fix.tracker, pid);
		before_switches = get_member_switches(fix.tracker, pid);
		ck_assert_int_eq(family_tell(&fix.family, i % TREE, FAMILY_RUN, 0), 0);
		family_stop(&fix.family);

		take_sample_after(SOON);

		ck_assert_uint_gt(get_member_cpu_ns(fix.tracker, pid), before_ns);
		ck_assert_uint_gt(get_member_switches(fix.tracker, pid), before_switches);
		family_continue(&fix.family);
	}
}
END_TEST

START_TEST(rows_of_a_final_sample_are_not_skipped)
{
	stop_and_batch_read();
	take_sample_after(SOON);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE);
	begin_final_sample(fix.tracker);

	take_sample_after(SOON);

	ck_assert_uint_eq(count_idle_rows(fix.tracker), 0);
}
END_TEST

/* The kernel may reclaim pages of a process that does not run. */
START_TEST(rss_of_idle_member_is_read_each_second)
{
	struct rt_metrics before = stop_and_batch_read(), m;
	int32_t pid = get_pid(3);
	uint64_t rss_bytes = get_member_rss(fix.tracker, pid);

	set_member_rss(fix.tracker, pid, 1);

	take_sample_after(SOON);
	ck_assert_uint_eq(get_member_rss(fix.tracker, pid), 1);

	m = take_sample_after(SECOND);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE - 1); /* the others have the same */
	ck_assert_uint_eq(get_member_rss(fix.tracker, pid), rss_bytes);
	check_equal(&m, &before);
}
END_TEST

static int read_rss_in_fork(int32_t pid)
{
	struct rt_metrics m;

	for (int i = 0; i < 2; i++) {
		fix.now_ns += SECOND;
		if (rt_sample(fix.tracker, &m, sizeof(m)) != 0)
			return 1;
	}
	return get_member_rss(fix.tracker, pid) > 1 ? 0 : 2;
}

/* The reader is the parent's. From then on no row says whether RSS is the same. */
START_TEST(rss_of_idle_member_is_read_each_second_without_the_reader)
{
	int32_t pid = get_pid(3);
	int status;
	pid_t fork_pid;

	stop_and_batch_read();
	take_sample_after(SECOND);
	fork_pid = fork();
	if (fork_pid == 0) {
		take_sample_after(SOON);
		set_member_rss(fix.tracker, pid, 1);
		_exit(read_rss_in_fork(pid));
	}
	ck_assert_int_eq(waitpid(fork_pid, &status, 0), fork_pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void poll_peak_after(uint64_t ns)
{
	fix.now_ns += ns;
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
}

START_TEST(peak_poll_reads_rss_of_idle_member_each_second)
{
	int32_t pid = get_pid(3);
	uint64_t rss_bytes;

	stop_and_batch_read();
	poll_peak_after(0);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), 0);
	rss_bytes = get_noted_rss(fix.tracker, pid);
	ck_assert_uint_eq(rss_bytes, get_member_rss(fix.tracker, pid));
	set_noted_rss(fix.tracker, pid, MIB);

	poll_peak_after(SOON);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE);
	ck_assert_uint_eq(get_noted_rss(fix.tracker, pid), MIB);

	poll_peak_after(SECOND);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), 0);
	ck_assert_uint_eq(get_noted_rss(fix.tracker, pid), rss_bytes);
}
END_TEST

/* The member has not run since the call, and no figure from status is wanted. */
START_TEST(ignored_sigchld_of_idle_member_is_reported_when_due)
{
	struct rt_metrics m;

	track_family(1024, RT_HAS_CPU);
	stop_and_batch_read();
	family_continue(&fix.family);
	ck_assert_int_eq(family_tell(&fix.family, 3, FAMILY_RUN, 1), 0);
	take_sample_after(SECOND);
	ck_assert_int_eq(family_tell(&fix.family, 3, FAMILY_IGNORE, 0), 0);
	family_stop(&fix.family);

	m = take_sample_after(SOON);
	ck_assert_uint_eq(m.reasons, 0);

	m = take_sample_after(SECOND);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);

	take_sample_after(SOON);
	ck_assert_uint_eq(count_idle_rows(fix.tracker), TREE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("idle members in batch reads");
	TCase *tcase = add_batch_case(suite, "idle members");

	if (!has_bpf())
		return suite_skip("this system has no BPF batch reader");
	tcase_add_test(tcase, rows_of_idle_members_are_skipped_and_figures_equal_text);
	tcase_add_test(tcase, row_of_member_that_ran_briefly_is_not_skipped);
	tcase_add_test(tcase, rows_of_a_final_sample_are_not_skipped);
	tcase_add_test(tcase, rss_of_idle_member_is_read_each_second);
	tcase_add_test(tcase, rss_of_idle_member_is_read_each_second_without_the_reader);
	tcase_add_test(tcase, peak_poll_reads_rss_of_idle_member_each_second);
	tcase_add_test(tcase, ignored_sigchld_of_idle_member_is_reported_when_due);
	return suite_run(suite);
}
