/* SPDX-License-Identifier: MIT */
/* The memory of a tree: swap, what was freed lazily, and reads that were asked for. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* --- Swap, and what was freed lazily. --- */

/* VmSwap of each forked member counts what all share. smaps_rollup has its part of that. */
enum { PROGRAMS, POOL, UNREAD_POOL, SWAP_CASES };

START_TEST(swap_of_a_pool_is_exact_once_it_is_read_and_that_of_programs_is_at_once)
{
	struct rt_metrics m;

	write_pool(1);
	if (_i == PROGRAMS) {
		make_process(1, false);
		set_pages(1, ANON, FILES, 1);
	}
	processes[ROOT].swap_kib = 40;
	processes[1].swap_kib = 20;
	processes[ROOT].swap_pss_kib = 30;
	processes[1].swap_pss_kib = 10;
	write_process(ROOT);
	write_process(1);
	track_tree((struct rt_opts){ .pss_share = 1 });
	if (_i == UNREAD_POOL)
		take_savings();
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.swap_bytes, (_i == POOL ? 40 : 60) * 1024);
	ck_assert_uint_eq((_i == UNREAD_POOL ? m.estimated : m.valid) & RT_HAS_TREE_SWAP,
	                  RT_HAS_TREE_SWAP);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes((_i == PROGRAMS ? 2 : 1) * ANON));
}
END_TEST

START_TEST(tree_without_swap_is_exact)
{
	struct rt_metrics m;

	track_pool(1);
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.swap_bytes, 0);
	ck_assert_uint_ne(m.valid & RT_HAS_TREE_SWAP, 0);
}
END_TEST

/* In the sample that shows it. Later the process may have written to the pages. */
START_TEST(memory_that_was_freed_lazily_is_not_needed_in_the_sample_that_reads_it)
{
	struct rt_metrics m;

	write_pool(1);
	for (int i = 0; i <= 1; i++) {
		processes[i].lazy_kib = kib(50);
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.needed_bytes, pages_to_bytes(ANON - 100));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON));

	processes[1].rss_pages++;
	run_and_write(1);
	m = sample_pool_after(MS);
	check_exact(&m, ANON + 1, FILES);

	/* What could not be read shows nothing. */
	faults_on_open("smaps_rollup", -EACCES);
	give_savings();
	m = sample_pool_after(11 * SECOND);
	ck_assert_uint_eq(m.needed_bytes, m.footprint_bytes - m.footprint_file_bytes);
}
END_TEST

/* --- Reads by request. --- */

/* E.g.: a limit of memory asks before it ends a program. The budget is spent, or a read may take
 * no longer than 1 us. */
START_TEST(sample_after_a_request_reads_whatever_that_takes)
{
	struct rt_metrics m;

	write_pool(2);
	track_tree((struct rt_opts){ .pss_share = 1, .pss_hold_us = (uint32_t)_i });
	take_savings();
	m = sample_pool_after(0);
	check_estimate(&m, -EDQUOT);
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);

	/* Once. */
	for (int i = 0; i <= 2; i++) {
		processes[i].anon_kib = kib(ANON + 600) / 3;
		processes[i].minflt += 200;
		run_and_write(i);
	}
	take_savings();
	m = sample_pool_after(MS);
	check_estimate(&m, -EDQUOT);
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(MS);
	check_exact(&m, ANON + 600, FILES);
}
END_TEST

START_TEST(request_to_read_needs_a_figure_and_the_permission)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_tracker_read_memory(NULL), -EFAULT);
	write_pool(1);
	track_tree((struct rt_opts){ .want = RT_HAS_CPU });
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), -EOPNOTSUPP);
	rt_tracker_free(fix.tracker);
	fix.tracker = NULL;
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	ck_assert_int_eq(rt_tracker_read_memory(fix.tracker), 0);
	m = sample_pool_after(0);
	check_estimate(&m, -EDQUOT);
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_requests");
	TCase *beside = add_member_case(suite, "beside"),
	      *requests = add_member_case(suite, "requests");

	tcase_add_loop_test(beside,
	                    swap_of_a_pool_is_exact_once_it_is_read_and_that_of_programs_is_at_once,
	                    0, SWAP_CASES);
	tcase_add_test(beside, tree_without_swap_is_exact);
	tcase_add_test(beside,
	               memory_that_was_freed_lazily_is_not_needed_in_the_sample_that_reads_it);
	tcase_add_loop_test(requests, sample_after_a_request_reads_whatever_that_takes, 0, 2);
	tcase_add_test(requests, request_to_read_needs_a_figure_and_the_permission);
	return suite_run(suite);
}
