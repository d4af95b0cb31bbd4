/* SPDX-License-Identifier: MIT */
/* What a sample of one real process costs, call by call. Each test is a series of samples: what
 * happens before a sample, and its cost. */
#include "cost_fixture.h"

/* What it maps was read once. Nothing that other processes do changes that. */
START_TEST(idle_process_costs_rss_each_second)
{
	start_and_track_family(1, 0, 0, WIDE_SHARE);

	check_sample_after(
	    SOON, "one, idle",
	    (struct cost){ .reads = 1, .clocks = 1, .times = SAMPLE_TIMES, .files = LAST_PID });

	check_sample_after(REFRESH, "one, idle for a second",
	                   (struct cost){ .opens = 1,
	                                  .reads = 3,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/statm 1, " MERGED ", " LAST_PID });

	meter_see_fork();
	check_sample_after(
	    SOON, "one, idle, some process forked",
	    (struct cost){ .reads = 1, .clocks = 1, .times = SAMPLE_TIMES, .files = LAST_PID });
}
END_TEST

START_TEST(process_that_ran_costs_status_and_schedstat_at_ten_hertz)
{
	start_and_track_family(1, 0, 0, WIDE_SHARE);
	refresh_all();

	run_all();
	check_sample_after(
	    SOON, "one, ran",
	    (struct cost){ .reads = 4,
	                   .clocks = 1,
	                   .times = SAMPLE_TIMES,
	                   .files = "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });

	run_all();
	meter_see_fork();
	check_sample_after(SOON, "one, ran, some process forked",
	                   (struct cost){ .reads = 5,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/stat 1, PID/statm 1, "
	                                           "PID/task/TID/children 1, " LAST_PID });

	run_all();
	take_sample();
	run_all();
	check_sample_after(SELDOM, "one, ran, after 100 ms",
	                   (struct cost){ .reads = 6,
	                                  .clocks = 2,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/schedstat 1, PID/stat 1, "
	                                           "PID/statm 1, PID/status 1, " LAST_PID });
}
END_TEST

START_TEST(process_without_pss_that_ran_costs_three_files)
{
	start_and_track_family(1, 0, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_FAULTS,
	                       WIDE_SHARE);
	refresh_all();

	check_sample_after(
	    SOON, "one without PSS, idle",
	    (struct cost){ .reads = 1, .clocks = 1, .times = SAMPLE_TIMES, .files = LAST_PID });

	run_all();
	check_sample_after(
	    SELDOM, "one without PSS, ran",
	    (struct cost){ .reads = 4,
	                   .clocks = 1,
	                   .times = SAMPLE_TIMES,
	                   .files = "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });
}
END_TEST

START_TEST(process_tracked_alone_that_did_io_costs_stat_where_it_may_have_forked)
{
	start_and_track_family(1, RT_OPT_NO_CHILDREN, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO,
	                       WIDE_SHARE);
	write_some();
	take_sample();

	check_sample_after(SOON, "alone, idle",
	                   (struct cost){ .clocks = 1, .times = SAMPLE_TIMES, .files = "" });

	run_all();
	meter_see_fork();
	check_sample_after(
	    SOON, "alone, ran",
	    (struct cost){
		.reads = 2, .clocks = 1, .times = SAMPLE_TIMES, .files = "PID/io 1, PID/statm 1" });

	write_some();
	check_sample_after(
	    SOON, "alone, did I/O, there were forks",
	    (struct cost){ .reads = 4,
	                   .clocks = 1,
	                   .times = SAMPLE_TIMES,
	                   .files = "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });

	write_some();
	check_sample_after(SOON, "alone, did I/O, there were none",
	                   (struct cost){ .opens = 1,
	                                  .reads = 5,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/stat 1, PID/statm 1, "
	                                           "PID/task/TID/children 1, " LAST_PID });

	write_some();
	check_sample_after(SOON, "alone, did I/O, has no children",
	                   (struct cost){ .reads = 3,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/statm 1, " LAST_PID });

	write_some();
	check_sample_after(SELDOM, "alone, did I/O, stat is due",
	                   (struct cost){ .reads = 5,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/stat 1, PID/statm 1, "
	                                           "PID/task/TID/children 1, " LAST_PID });
}
END_TEST

/* The kernel adds the I/O of a reaped child to that of the process, so from the first reaped child
 * on, I/O is the sum over the threads. */
START_TEST(process_tracked_alone_that_reaped_costs_io_of_its_threads)
{
	uint64_t write_chars;

	start_and_track_family(2, RT_OPT_NO_CHILDREN, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO,
	                       WIDE_SHARE);
	write_some();
	take_sample();

	write_some();
	check_sample_after(SOON, "alone, did I/O, has a child",
	                   (struct cost){ .opens = 1,
	                                  .reads = 6,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/io 1, PID/stat 1, PID/statm 1, "
	                                           "PID/task/TID/children 1, " LAST_PID });

	write_chars = fix.m.write_chars;
	family_tell(&fix.family, 1, FAMILY_WRITE, 5000);
	family_shrink(&fix.family, 1);
	run_member(0);
	take_sample();
	ck_assert_uint_lt(fix.m.write_chars, write_chars + 5000);

	run_member(0);
	check_sample_after(SELDOM, "alone, has reaped: I/O by threads",
	                   (struct cost){ .opens = 5,
	                                  .reads = 6,
	                                  .lists = 2,
	                                  .clocks = 2,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/stat 2, PID/statm 1, PID/task 1, "
	                                           "PID/task/TID/io 1, PID/task/TID/schedstat 1, "
	                                           "PID/task/TID/stat 1",
	                                  .twice = "/stat" });
}
END_TEST

START_TEST(process_with_threads_that_ran_costs_files_of_each_thread_at_ten_hertz)
{
	start_family(1);
	ck_assert_int_eq(family_tell(&fix.family, 0, FAMILY_THREADS, 3), 0);
	track_family(0, 0, WIDE_SHARE);
	refresh_all();

	run_all();
	check_sample_after(
	    SOON, "four threads, ran",
	    (struct cost){ .reads = 4,
	                   .clocks = 1,
	                   .times = SAMPLE_TIMES,
	                   .files = "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });

	run_all();
	meter_see_fork();
	check_sample_after(SOON, "four threads, ran, some process forked",
	                   (struct cost){ .opens = 5,
	                                  .reads = 8,
	                                  .lists = 2,
	                                  .clocks = 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files =
	                                      "PID/io 1, PID/stat 1, PID/statm 1, "
	                                      "PID/task 1, PID/task/TID/children 4, " LAST_PID });

	run_all();
	check_sample_after(
	    SELDOM, "four threads, ran, after 100 ms",
	    (struct cost){ .opens = 15,
	                   .reads = 18,
	                   .lists = 2,
	                   .clocks = 2,
	                   .times = SAMPLE_TIMES,
	                   .files = "PID/io 1, PID/stat 2, PID/statm 1, "
	                            "PID/status 1, PID/task 1, PID/task/TID/schedstat 4, "
	                            "PID/task/TID/stat 4, PID/task/TID/status 4, " LAST_PID,
	                   .twice = "/stat" });
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost of a process");
	TCase *in_tree = add_cost_case(suite, "tree of one process"),
	      *alone = add_cost_case(suite, "process tracked alone");

	if (!has_children_files())
		return suite_skip("this kernel has no children files (CONFIG_PROC_CHILDREN)");
	tcase_add_test(in_tree, idle_process_costs_rss_each_second);
	tcase_add_test(in_tree, process_that_ran_costs_status_and_schedstat_at_ten_hertz);
	tcase_add_test(in_tree, process_without_pss_that_ran_costs_three_files);
	tcase_add_test(in_tree,
	               process_with_threads_that_ran_costs_files_of_each_thread_at_ten_hertz);
	tcase_add_test(alone,
	               process_tracked_alone_that_did_io_costs_stat_where_it_may_have_forked);
	tcase_add_test(alone, process_tracked_alone_that_reaped_costs_io_of_its_threads);
	return suite_run(suite);
}
