/* SPDX-License-Identifier: MIT */
/* Which member a forked one has its memory from, where that does not show at once. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* A root that has ended, and the processes that it had started. To a caller that may not trace them
 * no process shows where its stack is. */
static void write_daemons(int count)
{
	write_pool(count);
	processes[ROOT].is_zombie = true;
	write_process(ROOT);
	for (int i = 1; i <= count; i++) {
		processes[i].stack = 0;
		write_process(i);
	}
}

static void run_program(int i, const char *exe)
{
	processes[i].is_forked = false;
	processes[i].exe = exe;
	write_process(i);
}

static struct rt_metrics track_and_sample(void)
{
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	return sample_pool_after(0);
}

/* The first two have executed a program. The third was forked by one that has ended, and runs the
 * program of the second, or one that no other member runs. */
START_TEST(forked_daemon_shares_with_a_member_that_runs_its_program)
{
	static const char *const programs[] = { "/bin/sh", "/bin/third" };
	struct rt_metrics m;

	write_daemons(3);
	set_pages(1, 100, FILES, 1);
	run_program(1, "/bin/other");
	run_program(2, "/bin/sh");
	processes[3].exe = programs[_i];
	write_process(3);

	m = track_and_sample();

	ck_assert_uint_eq(m.processes, 4);
	ck_assert_uint_eq(m.footprint_bytes,
	                  pages_to_bytes(100 + (_i == 0 ? 1 : 2) * ANON + FILES));
}
END_TEST

/* It stands before the one with its program. */
START_TEST(forked_daemon_that_is_read_late_shares_with_a_member_that_runs_its_program)
{
	struct rt_metrics m;

	write_daemons(2);
	run_program(2, "/bin/sh");
	faults_on_read("101/statm", -EACCES);
	m = track_and_sample();
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));

	faults_on_read("101/statm", 0);
	run_child(1);
	m = sample_pool_after(SECOND);

	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(2 * (ANON + FILES)));
}
END_TEST

static bool have_same_memory(int32_t pid, int32_t other)
{
	return pid == 101 && other == 100;
}

/* E.g.: it was killed. */
START_TEST(vforked_child_has_the_space_for_itself_once_its_parent_has_ended)
{
	struct rt_metrics m;

	write_pool(1);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	get_platform(fix.tracker)->have_same_memory = have_same_memory;
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));

	fake_process_remove(&fix.root, 100);
	end_cpu_clock(ROOT);
	processes[1].ppid = 1;
	set_pages(1, ANON + 10, FILES, 1);
	run_and_write(1);
	m = sample_pool_after(SECOND);

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + 10 + FILES));
}
END_TEST

static void refuse_stat_of_root(void *arg)
{
	(void)arg;
	faults_on_read("100/stat", -EACCES);
}

/* It is what it was at its last look. */
START_TEST(child_shares_with_a_parent_that_cannot_be_looked_at_any_more)
{
	struct rt_metrics m;

	write_pool(0);
	m = track_and_sample();
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	fork_child(1);
	faults_before_open("101/statm", refuse_stat_of_root, NULL);

	m = sample_pool_after(SECOND);

	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_CPU), -EACCES);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(2 * (ANON + FILES)));
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_parents");
	TCase *tcase = add_member_case(suite, "parents");

	tcase_add_loop_test(tcase, forked_daemon_shares_with_a_member_that_runs_its_program, 0, 2);
	tcase_add_test(tcase,
	               forked_daemon_that_is_read_late_shares_with_a_member_that_runs_its_program);
	tcase_add_test(tcase, vforked_child_has_the_space_for_itself_once_its_parent_has_ended);
	tcase_add_test(tcase, child_shares_with_a_parent_that_cannot_be_looked_at_any_more);
	return suite_run(suite);
}
