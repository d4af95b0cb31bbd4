/* SPDX-License-Identifier: MIT */
/* The memory of a tree: members that change between the reads of PSS of two of them, and which
 * members are read again, and when. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* --- Members that change between two reads. --- */

#define READ_FIRST 1
#define READ_LAST 2
#define BEFORE_LAST_READ "102/smaps_rollup"

/* One child does something after it was read, and before the other one is. Then the root and the
 * one that changed have anon_kib as before, and the other one as after it. */
struct change {
	void (*act)(void);
	uint64_t anon_of_last; /* pages, by PSS */
	uint64_t truth;        /* anonymous pages of all, afterwards */
};

static void execute(void)
{
	execute_other_program(READ_FIRST);
	set_pages(READ_FIRST, 500, 300, 1);
}

static void release_anonymous_pages(void)
{
	processes[READ_FIRST].rss_pages -= 1000;
}

static void copy_pages(void)
{
	processes[READ_FIRST].minflt += 600;
}

/* The children have had more faults than they have pages. So the model takes all of these for
 * copies, and a sum of any size is possible. What was read is off by what has moved. */
static const struct change changes[] = {
	{ execute, ANON / 2, ANON + 500 },
	{ release_anonymous_pages, 800 / 3 + 1000 / 2, ANON },
	{ copy_pages, 1200 / 3 + 600 / 2, ANON + 600 },
};

static void change_child(void *arg)
{
	const struct change *change = arg;

	change->act();
	write_process(READ_FIRST);
	processes[READ_LAST].anon_kib = kib(change->anon_of_last);
	write_process(READ_LAST);
}

static void track_pool_with_many_faults(void)
{
	write_pool(2);
	for (int i = 1; i <= 2; i++) {
		processes[i].minflt = 2000;
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 1 });
}

START_TEST(sum_during_which_a_member_changed_what_it_shares_is_not_valid)
{
	struct change change = changes[_i];
	struct rt_metrics m;

	track_pool_with_many_faults();
	faults_before_open(BEFORE_LAST_READ, change_child, &change);
	m = sample_pool_after(0);

	check_estimate(&m, -EBUSY);
	ck_assert_uint_le(m.needed_low_bytes, pages_to_bytes(change.truth));
	ck_assert_uint_ge(m.needed_high_bytes, pages_to_bytes(change.truth));
}
END_TEST

/* The model is off by more than what has moved meanwhile. What is seen of that later counts. */
START_TEST(sum_during_which_a_member_changed_corrects_a_model_that_is_further_off)
{
	struct change change = changes[_i];
	uint64_t truth;
	struct rt_metrics m;

	track_pool_with_many_faults();
	faults_before_open(BEFORE_LAST_READ, change_child, &change);
	sample_pool_after(0);
	take_savings();
	run_child(READ_FIRST);
	m = sample_pool_after(5 * MS);

	truth = pages_to_bytes(change.truth);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_ge(m.footprint_anon_bytes, truth - truth / 4);
	ck_assert_uint_le(m.footprint_anon_bytes, truth + truth / 4);
	ck_assert_uint_le(m.needed_low_bytes, truth);
	ck_assert_uint_ge(m.needed_high_bytes, truth);
}
END_TEST

static void grow_child(void *arg)
{
	(void)arg;
	processes[READ_FIRST].rss_pages += 300;
	processes[READ_FIRST].minflt += 300;
	write_process(READ_FIRST);
}

START_TEST(sum_during_which_a_member_grew_is_exact)
{
	struct rt_metrics m;

	track_pool(2);
	faults_before_open(BEFORE_LAST_READ, grow_child, NULL);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	take_savings();
	run_child(READ_FIRST);
	m = sample_pool_after(5 * MS);
	check_exact(&m, ANON + 300, FILES);
}
END_TEST

/* --- Changes that were not looked at. --- */

/* In polls stat is not read of a process that shares nothing. It executes a program unseen, and
 * forks. The forked child has the stack of that program. */
START_TEST(child_of_a_process_that_executed_a_program_between_polls_shares_with_it)
{
	struct rt_metrics m;

	write_pool(0);
	make_process(1, false);
	set_pages(1, 200, 100, 1);
	write_process(1);
	list_children();
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 200 + FILES));

	processes[1].stack += 1000;
	set_pages(1, 3000, 100, 1);
	processes[1].children = "102 ";
	run_and_write(1);
	processes[2] = processes[1];
	processes[2].pid = 102;
	processes[2].ppid = 101;
	processes[2].is_forked = true;
	processes[2].minflt = 0;
	processes[2].starttime = 1000 * SECOND / get_platform(fix.tracker)->tick_ns + 10;
	processes[2].children = "";
	write_process(2);
	fix.now_ns += SECOND;
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	ck_assert(has_member(fix.tracker, 102));

	processes[1].children = "";
	set_pages(1, 200, 100, 1);
	run_and_write(1);
	fake_process_remove(&fix.root, 102);
	end_cpu_clock(2);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 3000 + FILES));
}
END_TEST

/* status, which has the size of shared memory, is read every 100 ms at most. */
START_TEST(shared_memory_that_was_unmapped_between_two_reads_of_status_is_in_no_figure)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].shmem_kib = kib(FILES);
	write_process(ROOT);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_shmem_bytes, pages_to_bytes(FILES));
	ck_assert_uint_eq(m.footprint_file_bytes, 0);
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON + FILES));
	set_pages(ROOT, ANON, 50, 1);
	run_and_write(ROOT);
	m = sample_pool_after(5 * MS);

	ck_assert_uint_le(m.footprint_shmem_bytes, pages_to_bytes(50));
	ck_assert_uint_eq(m.footprint_high_bytes, pages_to_bytes(ANON + 50));
}
END_TEST

/* What its child has is partly that of the process outside of the tree, still: how much of it that
 * has counts for nothing. */
START_TEST(tree_with_a_root_that_forked_before_it_executed_a_program_shares_with_other_processes)
{
	struct rt_metrics m;

	write_pool(1);
	processes[ROOT].is_forked = true;
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	execute_other_program(ROOT);
	processes[ROOT].stack += 1000;
	set_pages(ROOT, 500, 300, 1);
	set_pages(1, ANON, FILES, 1);
	run_and_write(ROOT);
	write_process(1);
	m = sample_pool_after(SECOND);

	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON + 500));
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON));
}
END_TEST

/* --- When members are read. --- */

/* What each read of a member costs beyond the usual, and how many there were. */
static struct cost {
	const char *suffix;
	uint64_t ns;
	unsigned reads;
} costs[2];

static void use_cpu(void *arg)
{
	struct cost *cost = arg;

	fix.own_cpu_ns += cost->ns;
	cost->reads++;
	faults_before_open(cost->suffix, use_cpu, cost);
}

static void set_cost(int i, const char *suffix, uint64_t ns)
{
	costs[i] = (struct cost){ suffix, ns, 0 };
	faults_before_open(suffix, use_cpu, &costs[i]);
}

START_TEST(member_that_could_not_be_read_is_read_again_after_a_second)
{
	struct rt_metrics m;

	track_pool(1);
	set_cost(0, "101/smaps_rollup", 0);
	faults_on_open("101/smaps_rollup", -EACCES);
	sample_pool_after(0);
	ck_assert_uint_eq(costs[0].reads, 1);
	faults_on_open("101/smaps_rollup", 0);
	m = sample_pool_after(SECOND - 1);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(costs[0].reads, 1);

	m = sample_pool_after(1);
	ck_assert_uint_eq(costs[0].reads, 2);
	check_exact(&m, ANON, FILES);
}
END_TEST

/* The others are good, and so was that of this member, once. */
START_TEST(member_that_could_be_read_before_is_read_again_after_a_second)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	fork_child(2);
	for (int i = 0; i <= 2; i++) {
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	faults_on_open("101/smaps_rollup", -EACCES);
	m = sample_pool_after(MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	faults_on_open("101/smaps_rollup", 0);

	m = sample_pool_after(SECOND);
	check_exact(&m, ANON, FILES);
}
END_TEST

/* 14 GiB each, of which reading costs 150 ms. At most 200 ms may be saved, and half of that spent
 * at a time if it is never enough for all. */
#define LARGE 3500000

START_TEST(members_that_cost_more_than_half_of_the_savings_are_read_one_after_the_other)
{
	struct rt_metrics m = { 0 };

	write_pool(2);
	for (int i = 0; i <= 2; i++) {
		set_pages(i, LARGE, 20, 3);
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 100, .pss_hold_us = 200000 });
	set_cost(0, "101/smaps_rollup", 150 * MS);
	set_cost(1, "102/smaps_rollup", 150 * MS);
	for (int i = 0; i < 9 && !(m.valid & RT_HAS_NEEDED); i++)
		m = sample_pool_after(SECOND);

	check_exact(&m, LARGE, 20);
	ck_assert_uint_eq(costs[0].reads, 1);
	ck_assert_uint_eq(costs[1].reads, 1);
}
END_TEST

/* Most of it was in swap: 60 ms, where its pages let expect less than 1 ms. No read may take more
 * than 50 ms. */
START_TEST(member_that_has_cost_too_much_is_read_again_after_a_minute)
{
	write_pool(1);
	track_tree((struct rt_opts){ .pss_share = 1000 });
	set_cost(0, "100/smaps_rollup", 0);
	set_cost(1, "101/smaps_rollup", 60 * MS);
	sample_pool_after(0);
	ck_assert_uint_eq(costs[1].reads, 1);
	for (unsigned i = 0; i < 60; i++) {
		run_child(ROOT);
		run_child(1);
		sample_pool_after(SECOND);
		ck_assert_uint_eq(costs[0].reads, 2 + i);
		ck_assert_uint_eq(costs[1].reads, 1);
	}
	run_child(1);
	sample_pool_after(SECOND);
	ck_assert_uint_eq(costs[1].reads, 2);
	run_child(1);
	sample_pool_after(SECOND);
	ck_assert_uint_eq(costs[1].reads, 2);
}
END_TEST

#define CHANGES ((int)(sizeof(changes) / sizeof(changes[0])))

/* Each read of our own CPU time adds 10 us: one after what the program maps was read, one before
 * the reads of what members share, one after that of each, and one after all were looked at once
 * more. */
START_TEST(budget_pays_for_the_looks_after_the_reads)
{
	track_pool(1);
	sample_pool_after(0);

	ck_assert_int_eq(get_pss_savings(fix.tracker), 100 * MS - 4 * 10000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory reads");
	TCase *between = add_member_case(suite, "between"),
	      *unseen = add_member_case(suite, "unseen"), *when = add_member_case(suite, "when");

	tcase_add_test(between, budget_pays_for_the_looks_after_the_reads);
	tcase_add_loop_test(between, sum_during_which_a_member_changed_what_it_shares_is_not_valid,
	                    0, CHANGES);
	tcase_add_loop_test(between,
	                    sum_during_which_a_member_changed_corrects_a_model_that_is_further_off,
	                    0, CHANGES);
	tcase_add_test(between, sum_during_which_a_member_grew_is_exact);
	tcase_add_test(unseen,
	               child_of_a_process_that_executed_a_program_between_polls_shares_with_it);
	tcase_add_test(unseen,
	               shared_memory_that_was_unmapped_between_two_reads_of_status_is_in_no_figure);
	tcase_add_test(
	    unseen,
	    tree_with_a_root_that_forked_before_it_executed_a_program_shares_with_other_processes);
	tcase_add_test(when, member_that_could_not_be_read_is_read_again_after_a_second);
	tcase_add_test(when, member_that_could_be_read_before_is_read_again_after_a_second);
	tcase_add_test(
	    when, members_that_cost_more_than_half_of_the_savings_are_read_one_after_the_other);
	tcase_add_test(when, member_that_has_cost_too_much_is_read_again_after_a_minute);
	return suite_run(suite);
}
