/* SPDX-License-Identifier: MIT */
/* What a sample or a peak poll of a tree of real processes costs, call by call. */
#include "cost_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "tree_inside.h"

#define TREE 20 /* members; the numbers in the lists of files depend on it */
#define SMALL_TREE 3
/* ns of the budget of reads: what it saves up from one poll to the next. */
#define LACKING ((int64_t)SOON * WIDE_SHARE * 1000)

/* stat of a child shows that the root has forked it, and then stat of the root that this is there:
 * for the other children its clock does. Later stat of each has its account, and shows after PSS
 * that it has copied no page meanwhile. For the first child, stat of the root shows how much that
 * had copied by then. Each has shared memory for itself, which smaps shows. */
START_TEST(first_sample_asks_for_the_clock_of_the_parent_of_each_child)
{
	const uint64_t want = RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS;

	start_family(TREE);
	make_tracker(0, want, WIDE_SHARE);
	take_sample();

	report_cost("tree, first sample");
	ck_assert_str_eq(meter_files(), "PID/smaps 20, PID/smaps_rollup 20, PID/stat 61, "
	                                "PID/statm 59, PID/status 20, "
	                                "PID/task/TID/children 20, " MERGED ", " LAST_PID);
	ck_assert_uint_eq(meter.clocks, 1 + (TREE - 1) + (TREE - 2));
}
END_TEST

START_TEST(idle_tree_costs_one_clock_for_each_member)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);

	check_sample_after(
	    SOON, "tree, idle",
	    (struct cost){ .reads = 1, .clocks = TREE, .times = SAMPLE_TIMES, .files = LAST_PID });

	meter_see_fork();
	check_sample_after(
	    SOON, "tree, idle, some process forked",
	    (struct cost){ .reads = 1, .clocks = TREE, .times = SAMPLE_TIMES, .files = LAST_PID });

	check_sample_after(REFRESH, "tree, idle for a second",
	                   (struct cost){ .opens = 1,
	                                  .reads = 2 + TREE,
	                                  .clocks = TREE,
	                                  .times = SAMPLE_TIMES + LOOK_TIMES,
	                                  .files = "PID/statm 20, " MERGED ", " LAST_PID });
}
END_TEST

/* The children file of the root takes two reads: the second shows that it ends. */
START_TEST(tree_in_which_one_member_ran_costs_files_of_that_member)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);
	refresh_all();

	run_member(7);
	check_sample_after(
	    SOON, "tree, one ran",
	    (struct cost){ .reads = 4,
	                   .clocks = TREE,
	                   .times = SAMPLE_TIMES + LOOK_TIMES,
	                   .files = "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });

	run_member(7);
	meter_see_fork();
	check_sample_after(SOON, "tree, one ran, some process forked",
	                   (struct cost){ .reads = 7,
	                                  .clocks = TREE,
	                                  .times = SAMPLE_TIMES + LOOK_TIMES,
	                                  .files = "PID/io 1, PID/stat 1, PID/statm 1, "
	                                           "PID/task/TID/children 2, " LAST_PID });
}
END_TEST

START_TEST(tree_that_ran_costs_files_of_all_members)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);
	refresh_all();

	run_all();
	check_sample_after(
	    SOON, "tree, all ran",
	    (struct cost){ .reads = 1 + 3 * TREE,
	                   .clocks = TREE,
	                   .times = SAMPLE_TIMES + LOOK_TIMES,
	                   .files = "PID/io 20, PID/stat 20, PID/statm 20, " LAST_PID });

	run_all();
	meter_see_fork();
	check_sample_after(SOON, "tree, all ran, some process forked",
	                   (struct cost){ .reads = 1 + 4 * TREE + 1,
	                                  .clocks = TREE,
	                                  .times = SAMPLE_TIMES + LOOK_TIMES,
	                                  .files = "PID/io 20, PID/stat 20, PID/statm 20, "
	                                           "PID/task/TID/children 20, " LAST_PID });

	run_all();
	take_sample();
	run_all();
	check_sample_after(
	    SELDOM, "tree, all ran, after 100 ms",
	    (struct cost){ .reads = 1 + 5 * TREE,
	                   .clocks = 2 * TREE,
	                   .times = SAMPLE_TIMES + LOOK_TIMES,
	                   .files = "PID/io 20, PID/schedstat 20, PID/stat 20, PID/statm 20, "
	                            "PID/status 20, " LAST_PID });
}
END_TEST

/* Makes one member exit and be waited for, and the root fork another. */
static void replace_member(size_t victim)
{
	int32_t exited = fix.family.member[victim].pid;

	family_shrink(&fix.family, victim);
	family_await_sleep(&fix.family, family_grow(&fix.family));
	meter_see_run(exited);
	meter_see_run(fix.family.member[0].pid);
	meter_see_fork();
}

/* Three files show that the old member has exited. stat and status of the new one show what it is,
 * and stat of its parent that the parent is there. Then all files of the new one are read. As the
 * root has reaped a child, stat of all other members is read again. A fork and an exit change what
 * members share, so PSS of all is read, and statm after it. The first that has no shared memory of
 * its own is read for the program. */
START_TEST(tree_in_which_one_member_is_replaced_costs_stat_of_all_members)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);

	replace_member(3);
	take_sample();
	for (size_t victim = 4; victim < 7; victim++) {
		refresh_all();
		replace_member(victim);
		check_sample_after(
		    SOON, "tree, one exited and one is new",
		    (struct cost){ .opens = 6 + TREE,
		                   .reads = 38 + 3 * TREE,
		                   .clocks = TREE + 3, /* nothing has the pid that is free */
		                   .times = SAMPLE_TIMES + LOOK_TIMES + FORK_TIMES + ROUND_TIMES +
		                            PSS_TIMES * TREE,
		                   .files = "PID/io 3, PID/schedstat 1, PID/smaps_rollup 20, "
		                            "PID/stat 24, PID/statm 44, PID/status 1, "
		                            "PID/task/TID/children 3, " LAST_PID,
		                   .twice = "/stat" });
	}
}
END_TEST

START_TEST(tree_with_pss_budget_used_up_costs_no_pss_reads)
{
	start_and_track_family(TREE, 0, 0, 10);
	refresh_all();
	run_all();
	set_pss_savings(fix.tracker, 0);

	check_sample_after(
	    1, "tree, all ran, nothing saved for PSS",
	    (struct cost){ .reads = 1 + 3 * TREE,
	                   .clocks = TREE,
	                   .times = SAMPLE_TIMES + LOOK_TIMES,
	                   .files = "PID/io 20, PID/stat 20, PID/statm 20, " LAST_PID });

	ck_assert_uint_ne(fix.m.pss_source, RT_PSS_READ);
}
END_TEST

START_TEST(pss_without_a_limit_costs_the_files_of_all_members)
{
	start_and_track_family(TREE, RT_OPT_PSS_READS, 0, NO_LIMIT);
	refresh_all();

	for (int i = 0; i < 2; i++) {
		run_all();
		check_sample_after(
		    1, "tree, all ran, no limit for PSS",
		    (struct cost){ .opens = TREE,
		                   .reads = 1 + 6 * TREE,
		                   .clocks = TREE,
		                   .times =
		                       SAMPLE_TIMES + LOOK_TIMES + ROUND_TIMES + PSS_TIMES * TREE,
		                   .files = "PID/io 20, PID/smaps_rollup 20, PID/stat 40, "
		                            "PID/statm 40, " LAST_PID,
		                   .twice = "/stat" });
		ck_assert_uint_eq(fix.m.pss_source, RT_PSS_READ);
	}

	/* Others that map the same may have come or gone. */
	check_sample_after(
	    1, "tree, idle, no limit for PSS",
	    (struct cost){ .opens = TREE,
	                   .reads = 1 + 3 * TREE,
	                   .clocks = TREE,
	                   .times = SAMPLE_TIMES + ROUND_TIMES + PSS_TIMES * TREE,
	                   .files = "PID/smaps_rollup 20, PID/stat 20, PID/statm 20, " LAST_PID });
}
END_TEST

/* The ledger needs faults, so stat is read whatever domain is wanted. */
static const struct {
	const char *name;
	uint64_t want;
	struct cost ran, idle;
} domains[] = {
	{ .name = "CPU",
	  .want = RT_HAS_CPU,
	  .ran = { .reads = 4, .files = "PID/stat 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "RSS",
	  .want = RT_HAS_RSS,
	  .ran = { .reads = 7, .files = "PID/stat 3, PID/statm 3, " LAST_PID },
	  .idle = { .reads = 4, .files = "PID/statm 3, " LAST_PID } },
	{ .name = "PSS",
	  .want = RT_HAS_PSS,
	  .ran = { .opens = 4,
	           .reads = 20,
	           .times = LOOK_TIMES + ROUND_TIMES + 3 * PSS_TIMES,
	           .files = "PID/smaps_rollup 3, PID/stat 6, PID/statm 6, PID/status 3, " MERGED
	                    ", " LAST_PID,
	           .twice = "/stat" },
	  .idle = { .opens = 4,
	            .reads = 14,
	            .times = LOOK_TIMES + ROUND_TIMES + 3 * PSS_TIMES,
	            .files = "PID/smaps_rollup 3, PID/stat 3, PID/statm 6, " MERGED ", " LAST_PID,
	            .twice = "/statm" } },
	{ .name = "peak RSS",
	  .want = RT_HAS_PEAK_RSS,
	  .ran = { .reads = 7, .files = "PID/stat 3, PID/status 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "I/O",
	  .want = RT_HAS_IO,
	  .ran = { .reads = 7, .files = "PID/io 3, PID/stat 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "faults",
	  .want = RT_HAS_FAULTS,
	  .ran = { .reads = 4, .files = "PID/stat 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "switches",
	  .want = RT_HAS_CTXSW,
	  .ran = { .reads = 10,
	           .clocks = SMALL_TREE,
	           .files = "PID/schedstat 3, PID/stat 3, PID/status 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "processes",
	  .want = RT_HAS_PROCESSES,
	  .ran = { .reads = 4, .files = "PID/stat 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
	{ .name = "threads",
	  .want = RT_HAS_THREADS,
	  .ran = { .reads = 4, .files = "PID/stat 3, " LAST_PID },
	  .idle = { .reads = 1, .files = LAST_PID } },
};

enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

/* Adds the clocks and times of every sample of the small tree. */
static struct cost add_common_cost(struct cost cost)
{
	cost.clocks += SMALL_TREE;
	cost.times += SAMPLE_TIMES;
	return cost;
}

START_TEST(domain_wanted_alone_costs_its_own_files_and_stat)
{
	char situation[64];

	start_and_track_family(SMALL_TREE, 0, domains[_i].want, WIDE_SHARE);
	refresh_all();

	run_all();
	snprintf(situation, sizeof(situation), "three, ran, %s alone", domains[_i].name);
	check_sample_after(REFRESH, situation, add_common_cost(domains[_i].ran));
	ck_assert_uint_eq(fix.m.valid, domains[_i].want);

	snprintf(situation, sizeof(situation), "three, idle, %s alone", domains[_i].name);
	check_sample_after(REFRESH, situation, add_common_cost(domains[_i].idle));
	ck_assert_uint_eq(fix.m.valid, domains[_i].want);
}
END_TEST

/* What a zombie used does not change any more. Its clock is read as that of any member. */
START_TEST(zombie_costs_its_clock_alone)
{
	const pid_t *zombie = &fix.family.member[1].pid;

	start_and_track_family(SMALL_TREE, 0, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO, WIDE_SHARE);
	family_begin(&fix.family, 1, FAMILY_EXIT, 0);
	while (thread_state(*zombie, *zombie) != 'Z')
		usleep(1000);
	meter_see_run(*zombie);
	for (int i = 0; i < 2; i++) {
		meter_pass(SELDOM);
		run_member(2);
		take_sample();
	}

	for (int i = 0; i < 2; i++) {
		run_member(2);
		check_sample_after(SOON, "three, one is a zombie, one ran",
		                   (struct cost){ .reads = 3,
		                                  .clocks = SMALL_TREE,
		                                  .times = SAMPLE_TIMES,
		                                  .files = "PID/io 1, PID/statm 1, " LAST_PID });
	}
}
END_TEST

START_TEST(difference_rows_and_status_cost_nothing)
{
	struct rt_process rows[TREE];
	struct rt_metrics before;
	struct rt_delta delta;
	size_t count = TREE;

	start_and_track_family(TREE, 0, 0, WIDE_SHARE);
	before = fix.m;
	run_all();
	meter_pass(SOON);
	take_sample();

	meter_start();
	rt_diff(&before, &fix.m, &delta, sizeof(delta));
	rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count);
	rt_tracker_status(fix.tracker, RT_HAS_CPU);
	meter_stop();

	check_cost("difference, list of processes, status", (struct cost){ .files = "" });
	ck_assert_uint_eq(count, TREE);
	ck_assert_uint_gt(delta.cpu_user_ns + delta.cpu_system_ns, 0);
}
END_TEST

/* stat has the faults, which say how much forked members have copied. statm is read before and
 * after it, for growth is no copy. */
START_TEST(peak_poll_costs_statm_and_stat_of_members_that_ran)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);
	refresh_all();

	check_peak_poll_after(SOON, "peak poll, first",
	                      (struct cost){ .reads = 1 + 3 * TREE,
	                                     .clocks = TREE,
	                                     .times = POLL_TIMES,
	                                     .files = "PID/stat 20, PID/statm 40, " LAST_PID,
	                                     .twice = "/statm" });

	check_peak_poll_after(
	    SOON, "peak poll, idle",
	    (struct cost){ .reads = 1, .clocks = TREE, .times = POLL_TIMES, .files = LAST_PID });

	run_member(7);
	check_peak_poll_after(SOON, "peak poll, one ran",
	                      (struct cost){ .reads = 4,
	                                     .clocks = TREE,
	                                     .times = POLL_TIMES,
	                                     .files = "PID/stat 1, PID/statm 2, " LAST_PID,
	                                     .twice = "/statm" });
}
END_TEST

START_TEST(peak_poll_of_one_process_costs_statm)
{
	start_and_track_family(1, 0, 0, WIDE_SHARE);
	refresh_all();
	run_all();

	check_peak_poll_after(
	    SOON, "peak poll, one process",
	    (struct cost){
		.reads = 2, .clocks = 1, .times = POLL_TIMES, .files = "PID/statm 1, " LAST_PID });
}
END_TEST

/* stat of the new member is read to discover it and for its account, and once more with statm.
 * Nothing is left of the budget to read what the new peak rests on. */
START_TEST(peak_poll_after_a_fork_costs_the_new_account)
{
	start_and_track_family(TREE, 0, 0, WIDE_SHARE);
	refresh_all();
	family_await_sleep(&fix.family, family_grow(&fix.family));
	meter_see_run(fix.family.member[0].pid);
	meter_see_fork();
	set_pss_savings(fix.tracker, -LACKING);

	check_peak_poll_after(
	    SOON, "peak poll, one is new",
	    (struct cost){ .opens = 3,
	                   .reads = 30 + 2 * TREE,
	                   .clocks = TREE + 1,
	                   .times = POLL_TIMES + FORK_TIMES + LOOK_TIMES,
	                   .files = "PID/stat 23, PID/statm 43, PID/task/TID/children 2, " LAST_PID,
	                   .twice = "/stat" });
}
END_TEST

/* Samples shall find the other half of the budget. */
START_TEST(peak_poll_at_a_new_peak_reads_for_half_of_the_budget)
{
	const uint64_t want = RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_FOOTPRINT;
	int64_t most;

	start_and_track_family(SMALL_TREE, 0, want, WIDE_SHARE);
	refresh_all();
	meter_pass(PSS_REFRESH);
	take_sample();
	most = get_pss_savings(fix.tracker); /* but for what this sample has spent */
	set_pss_savings(fix.tracker, _i ? most : most / 2 - LACKING);
	ck_assert_int_eq(family_tell(&fix.family, 1, FAMILY_GROW, 8), 0);
	family_await_sleep(&fix.family, family_grow(&fix.family));
	meter_see_run(0);
	meter_see_fork();

	meter_pass(SOON);
	meter_start();
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	meter_stop();
	report_cost("peak poll, new peak");
	ck_assert_int_eq(strstr(meter_files(), "PID/smaps_rollup 4,") != NULL, _i);
}
END_TEST

START_TEST(tree_without_pss_reads_costs_no_pss_reads)
{
	start_and_track_family(SMALL_TREE, RT_OPT_NO_MEMORY_READS, RT_HAS_PSS, WIDE_SHARE);
	refresh_all();
	family_shrink(&fix.family, 1);
	run_all();
	meter_see_run(fix.family.member[1].pid);
	meter_pass(PSS_REFRESH);
	take_sample();
	ck_assert_ptr_null(strstr(meter_files(), "smaps_rollup"));
	ck_assert_uint_eq(fix.m.pss_source, RT_PSS_ESTIMATED);
}
END_TEST

/* The name of the program is one link. */
START_TEST(member_that_executes_a_program_costs_its_name)
{
	start_and_track_family(SMALL_TREE, RT_OPT_NO_MEMORY_READS, RT_HAS_PSS, WIDE_SHARE);
	refresh_all();
	ck_assert_int_eq(family_tell(&fix.family, 1, FAMILY_EXEC, 0), 0);
	meter_see_run(fix.family.member[1].pid);
	meter_pass(SOON);
	take_sample();
	ck_assert_uint_eq(meter.looks, 1);

	run_all();
	meter_pass(SOON);
	take_sample();
	ck_assert_uint_eq(meter.looks, 0);
}
END_TEST

/* Switches the tracker to the batch reader. Returns false, and skips the test, if this system has
 * none. */
static bool switch_to_batch_reader(void)
{
	use_batch_reader_now(fix.tracker);
	for (int i = 0; i < 2; i++)
		take_sample();
	if (has_batch_reader(fix.tracker))
		return true;
	suite_skip_test("this system has no BPF batch reader");
	return false;
}

/* Members are stopped, since the BPF reader sees their real CPU clocks, which move until a member
 * sleeps again. */
START_TEST(tree_read_by_bpf_costs_children_files_after_a_fork)
{
	start_and_track_family(TREE, 0,
	                       RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PEAK_RSS | RT_HAS_IO |
	                           RT_HAS_FAULTS | RT_HAS_CTXSW,
	                       0);
	if (!switch_to_batch_reader())
		return;
	ck_assert_uint_eq(fix.m.source, RT_SOURCE_BPF);
	refresh_all();

	run_all();
	family_stop(&fix.family);
	check_sample_after(SELDOM, "tree by BPF, all ran",
	                   (struct cost){ .reads = 1, .times = SAMPLE_TIMES, .files = LAST_PID });

	family_continue(&fix.family);
	run_all();
	meter_see_fork();
	family_stop(&fix.family);
	check_sample_after(SELDOM, "tree by BPF, all ran, some process forked",
	                   (struct cost){ .reads = 1 + TREE + 1,
	                                  .times = SAMPLE_TIMES,
	                                  .files = "PID/task/TID/children 20, " LAST_PID });

	check_peak_poll_after(SOON, "peak poll by BPF",
	                      (struct cost){ .reads = 1, .times = POLL_TIMES, .files = LAST_PID });
}
END_TEST

START_TEST(tree_read_by_bpf_with_pss_costs_pss_files)
{
	start_and_track_family(TREE, RT_OPT_PSS_READS, 0, NO_LIMIT);
	if (!switch_to_batch_reader())
		return;
	refresh_all();
	run_all();

	check_sample_after(
	    SELDOM, "tree by BPF with PSS, all ran",
	    (struct cost){ .opens = TREE,
	                   .reads = 1 + 3 * TREE,
	                   .times = SAMPLE_TIMES + LOOK_TIMES + ROUND_TIMES + PSS_TIMES * TREE,
	                   .files = "PID/smaps_rollup 20, PID/stat 20, PID/statm 20, " LAST_PID });
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cost of a tree");
	TCase *samples = add_cost_case(suite, "samples"), *pss = add_cost_case(suite, "PSS"),
	      *one_domain = add_cost_case(suite, "one domain"),
	      *polls = add_cost_case(suite, "peak polls"),
	      *batch = add_cost_case(suite, "batch reads");

	if (!has_children_files())
		return suite_skip("this kernel has no children files (CONFIG_PROC_CHILDREN)");
	tcase_add_test(samples, first_sample_asks_for_the_clock_of_the_parent_of_each_child);
	tcase_add_test(samples, idle_tree_costs_one_clock_for_each_member);
	tcase_add_test(samples, tree_in_which_one_member_ran_costs_files_of_that_member);
	tcase_add_test(samples, tree_that_ran_costs_files_of_all_members);
	tcase_add_test(samples, tree_in_which_one_member_is_replaced_costs_stat_of_all_members);
	tcase_add_test(samples, zombie_costs_its_clock_alone);
	tcase_add_test(samples, difference_rows_and_status_cost_nothing);
	tcase_add_test(pss, tree_with_pss_budget_used_up_costs_no_pss_reads);
	tcase_add_test(pss, pss_without_a_limit_costs_the_files_of_all_members);
	tcase_add_loop_test(one_domain, domain_wanted_alone_costs_its_own_files_and_stat, 0,
	                    DOMAINS);
	tcase_add_test(pss, tree_without_pss_reads_costs_no_pss_reads);
	tcase_add_test(pss, member_that_executes_a_program_costs_its_name);
	tcase_add_test(polls, peak_poll_costs_statm_and_stat_of_members_that_ran);
	tcase_add_test(polls, peak_poll_of_one_process_costs_statm);
	tcase_add_test(polls, peak_poll_after_a_fork_costs_the_new_account);
	tcase_add_loop_test(polls, peak_poll_at_a_new_peak_reads_for_half_of_the_budget, 0, 2);
	tcase_add_test(batch, tree_read_by_bpf_costs_children_files_after_a_fork);
	tcase_add_test(batch, tree_read_by_bpf_with_pss_costs_pss_files);
	return suite_run(suite);
}
