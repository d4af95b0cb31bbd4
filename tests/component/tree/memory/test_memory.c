/* SPDX-License-Identifier: MIT */
/* The memory of a tree: when what was read of anonymous pages is good as a sum, and what stands in
 * for it. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* The tree was read once. From then on there is no budget for more. */
static void track_pool_and_read_once(int count)
{
	struct rt_metrics m;

	track_pool(count);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	take_savings();
}

/* After a change the anonymous pages are estimated to be so many. Once all is read again they are
 * what was read: so many pages. */
static void check_estimated_until_read(uint64_t estimated, uint64_t read)
{
	struct rt_metrics m = sample_pool_after(5 * MS);

	check_estimate(&m, -EDQUOT);
	ck_assert_uint_ge(m.footprint_anon_bytes, pages_to_bytes(estimated - estimated / 50));
	ck_assert_uint_le(m.footprint_anon_bytes, pages_to_bytes(estimated + estimated / 50));
	ck_assert_uint_le(m.needed_low_bytes, pages_to_bytes(read));
	ck_assert_uint_ge(m.needed_high_bytes, pages_to_bytes(read));
	give_savings();
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(read));
	ck_assert_uint_ne(m.valid & RT_HAS_NEEDED, 0);
}

static void note_open(void *arg)
{
	*(bool *)arg = true;
}

/* --- Exact. --- */

/* What most trees are: there is nothing to divide, so no page table is walked for that. */
START_TEST(anonymous_pages_of_programs_are_exact_without_a_read)
{
	static bool is_opened;
	struct rt_metrics m;

	write_pool(3);
	for (int i = 1; i <= 3; i++) {
		make_process(i, false);
		set_pages(i, 100 * (uint64_t)i, FILES, 1);
		write_process(i);
	}
	list_children();
	track_tree((struct rt_opts){ .pss_share = 1000 });
	faults_before_open("smaps_rollup", note_open, &is_opened);
	for (int i = 0; i < 3; i++) {
		m = sample_pool_after(20 * SECOND);
		check_exact(&m, ANON + 600, FILES);
		run_and_write(1);
	}
	ck_assert(!is_opened);
	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
}
END_TEST

/* It has all pages for itself, and each is read, or known. */
START_TEST(footprint_of_one_process_is_its_rss)
{
	struct rt_metrics m;

	write_pool(0);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);

	check_exact(&m, ANON, FILES);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);
	ck_assert_uint_eq(m.footprint_bytes, m.rss_bytes);
	ck_assert_uint_eq(m.footprint_low_bytes, m.rss_bytes);
	ck_assert_uint_eq(m.footprint_high_bytes, m.rss_bytes);
}
END_TEST

START_TEST(first_sample_within_the_budget_reads_the_pool)
{
	struct rt_metrics m;

	track_pool(3);
	m = sample_pool_after(0);

	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.needed_low_bytes, m.needed_bytes);
	ck_assert_uint_eq(m.needed_high_bytes, m.needed_bytes);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(4 * (ANON + FILES)));
}
END_TEST

/* Strangers map the pages, too: their PSS is in no figure. */
START_TEST(strangers_that_map_the_same_files_change_nothing)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].pss_kib = kib(ANON + 20);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1000 });
	m = sample_pool_after(0);

	check_exact(&m, ANON, FILES);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

START_TEST(sum_in_which_nothing_has_changed_stays_exact)
{
	struct rt_metrics m;

	track_pool_and_read_once(3);
	for (uint64_t i = 1; i <= 5; i++) {
		m = sample_pool_after(SECOND);
		check_exact(&m, ANON, FILES);
	}
}
END_TEST

/* 100 pages more, which it has touched itself. */
START_TEST(growth_of_a_member_is_added_to_what_was_read)
{
	struct rt_metrics m;

	track_pool_and_read_once(3);
	processes[2].rss_pages += 100;
	processes[2].minflt += 100;
	run_and_write(2);

	m = sample_pool_after(5 * MS);

	check_exact(&m, ANON + 100, FILES);
}
END_TEST

/* 20 pages of the program. Its siblings may have mapped them. */
START_TEST(pages_of_files_that_a_member_maps_are_added_to_the_image)
{
	struct rt_metrics m;

	track_pool_and_read_once(3);
	processes[2].rss_pages += 20;
	processes[2].shared_pages += 20;
	run_and_write(2);

	m = sample_pool_after(5 * MS);

	check_exact(&m, ANON, FILES + 20);
}
END_TEST

static void grow_first_child(void *arg)
{
	(void)arg;
	set_pages(1, ANON + 1000, FILES, 1);
	processes[1].anon_kib = kib(ANON / 2 + 1000);
	processes[1].minflt += 1000;
	write_process(1);
}

/* statm was read before it grew, and smaps_rollup after it. So the growth is in what was read. */
START_TEST(growth_during_the_read_is_added_once)
{
	struct rt_metrics m;

	write_pool(1);
	track_tree((struct rt_opts){ .pss_share = 1 });
	faults_before_open("101/smaps_rollup", grow_first_child, NULL);
	sample_pool_after(0);
	take_savings();
	run_child(1);

	m = sample_pool_after(5 * MS);

	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON + 1000));
}
END_TEST

/* What a worker has for itself, it may give back. */
START_TEST(release_of_a_member_is_taken_off_what_was_read)
{
	struct rt_metrics m;

	write_pool(1);
	processes[1].rss_pages += 400;
	processes[1].pss_kib += kib(400);
	processes[1].anon_kib += kib(400);
	processes[1].minflt += 400;
	write_process(1);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, ANON + 400, FILES);
	take_savings();
	processes[1].rss_pages -= 8;
	run_and_write(1);

	m = sample_pool_after(5 * MS);

	check_exact(&m, ANON + 392, FILES);
}
END_TEST

START_TEST(sum_is_read_again_after_ten_seconds)
{
	struct rt_metrics m;

	track_pool_and_read_once(2);
	give_savings();
	for (int i = 0; i <= 2; i++) {
		processes[i].anon_kib += kib(5);
		write_process(i);
	}
	m = sample_pool_after(9 * SECOND);
	check_exact(&m, ANON, FILES);
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + 15, FILES);
}
END_TEST

/* --- No longer exact. --- */

START_TEST(fork_makes_the_sum_an_estimate_until_all_is_read_again)
{
	struct rt_metrics m;

	track_pool_and_read_once(1);
	fork_child(2);
	for (int i = 0; i <= 2; i++) {
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	m = sample_pool_after(5 * MS);
	check_estimate(&m, -EDQUOT);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON, FILES);
}
END_TEST

/* The child has nothing in common any more, so that there is nothing to read. */
START_TEST(exec_of_the_only_child_leaves_nothing_to_read)
{
	struct rt_metrics m;

	track_pool_and_read_once(1);
	execute_other_program(1);
	set_pages(1, 500, 300, 1);
	set_pages(ROOT, ANON, FILES, 1);
	run_and_write(1);
	write_process(ROOT);
	m = sample_pool_after(5 * MS);
	check_exact(&m, ANON + 500, FILES);
}
END_TEST

START_TEST(end_of_a_member_makes_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(2);
	end_child(2);
	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES, 2);
		write_process(i);
	}
	check_estimated_until_read(ANON, ANON);
}
END_TEST

START_TEST(copies_make_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(1);
	processes[1].minflt += 600;
	run_and_write(1);
	for (int i = 0; i <= 1; i++) {
		processes[i].anon_kib += kib(300);
		write_process(i);
	}
	check_estimated_until_read(ANON + 600, ANON + 600);
}
END_TEST

/* A hundredth of the sum. */
START_TEST(changes_of_a_few_pages_leave_the_sum_exact)
{
	struct rt_metrics m;

	track_pool_and_read_once(1);
	processes[1].minflt += 8;
	run_and_write(1);
	m = sample_pool_after(5 * MS);
	check_exact(&m, ANON, FILES);

	processes[1].minflt += 20; /* 28 of 1800 in all */
	run_and_write(1);
	m = sample_pool_after(5 * MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
}
END_TEST

START_TEST(change_within_the_budget_is_read_at_once)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	fork_child(2);
	for (int i = 0; i <= 2; i++) {
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	m = sample_pool_after(5 * MS);
	check_exact(&m, ANON, FILES);
}
END_TEST

/* --- Estimates. --- */

START_TEST(pool_that_was_never_read_is_estimated_and_is_not_rss)
{
	struct rt_metrics m;

	track_pool(3);
	take_savings();
	m = sample_pool_after(0);

	check_estimate(&m, -EDQUOT);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(4 * (ANON + FILES)));
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_FOOTPRINT, 0);
}
END_TEST

START_TEST(pool_of_which_one_member_cannot_be_read_is_estimated)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .pss_share = _i ? 1000 : 1 });
	faults_on_open("102/smaps_rollup", -EACCES);
	for (int i = 0; i < 5; i++) {
		m = sample_pool_after(SECOND);
		check_estimate(&m, -EACCES);
		ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	}
	faults_on_open("102/smaps_rollup", 0);
	give_savings();
	m = sample_pool_after(2 * SECOND);
	check_exact(&m, ANON, FILES);
}
END_TEST

/* Before Linux 5.4, smaps_rollup does not say which part of PSS is anonymous. */
START_TEST(pool_without_the_kinds_of_pss_is_estimated)
{
	struct rt_metrics m;

	write_pool(2);
	for (int i = 0; i <= 2; i++) {
		processes[i].has_kinds = false;
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 1000 });
	m = sample_pool_after(0);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
}
END_TEST

START_TEST(pool_that_lets_nothing_be_read_is_estimated_and_not_0)
{
	struct rt_metrics m;

	track_pool(2);
	faults_on_open("smaps_rollup", -EACCES);
	faults_on_open("smaps", -EACCES);
	m = sample_pool_after(0);

	check_estimate(&m, -EACCES);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.footprint_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.footprint_high_bytes, m.rss_bytes);
	ck_assert_uint_eq(get_row(101).valid & RT_HAS_PSS, 0);
	ck_assert_uint_ne(get_row(101).estimated & RT_HAS_PSS, 0);
	ck_assert_uint_gt(get_row(101).pss_bytes, 0);
}
END_TEST

/* A member of which not even statm can be read is no member without memory. */
START_TEST(footprint_of_member_without_statm_has_no_upper_bound)
{
	struct rt_metrics m;

	write_pool(1);
	make_process(2, false);
	set_pages(2, ANON, FILES, 1);
	write_process(2);
	list_children();
	track_tree((struct rt_opts){ .pss_share = 1 });
	faults_on_open("102/statm", -EACCES);
	m = take_sample_after(0);

	check_estimate(&m, -EACCES);
	ck_assert_uint_ne(m.estimated & RT_HAS_FOOTPRINT, 0);
	ck_assert_uint_eq(m.footprint_high_bytes, UINT64_MAX);
	ck_assert_uint_eq(m.needed_high_bytes, UINT64_MAX);
	ck_assert_uint_eq(m.peak_footprint_high_bytes, UINT64_MAX);
	ck_assert_uint_ge(m.footprint_low_bytes, pages_to_bytes(ANON));
}
END_TEST

/* What cannot be read any more is as it was. */
START_TEST(member_that_becomes_unreadable_keeps_its_memory)
{
	struct rt_metrics m;

	write_pool(1);
	make_process(2, false);
	set_pages(2, ANON, FILES, 1);
	write_process(2);
	list_children();
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(2 * ANON + FILES));
	faults_on_open("102/statm", -EACCES);
	faults_on_read("102/statm", -EACCES);
	run_child(2);

	m = take_sample_after(SECOND);

	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(2 * ANON + FILES));
	check_estimate(&m, -EACCES);
}
END_TEST

/* A read of the child would hold it up for 100 us. */
START_TEST(member_that_a_read_would_hold_up_too_long_is_not_read)
{
	static bool is_opened;
	struct rt_metrics m;

	write_pool(1);
	set_pages(ROOT, 40, 20, 1);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1000, .pss_hold_us = 20 });
	faults_before_open("101/smaps_rollup", note_open, &is_opened);
	for (int i = 0; i < 3; i++) {
		run_and_write(ROOT);
		m = sample_pool_after(SECOND);
		check_estimate(&m, -EDQUOT);
		ck_assert_uint_ge(m.footprint_bytes, pages_to_bytes(ANON));
	}
	ck_assert(!is_opened);
}
END_TEST

START_TEST(tracker_without_memory_reads_estimates)
{
	static bool is_opened[2];
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS, .pss_share = 1000 });
	faults_before_open("smaps_rollup", note_open, &is_opened[0]);
	faults_before_open("smaps", note_open, &is_opened[1]);
	for (int i = 0; i < 3; i++) {
		run_and_write(1);
		m = sample_pool_after(20 * SECOND);
		ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
		check_estimate(&m, -EDQUOT);
		ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	}
	ck_assert(!is_opened[0] && !is_opened[1]);
}
END_TEST

/* Of programs that share nothing else. PSS, which has a merged page in parts, is all that shows it:
 * others may have the rest. */
START_TEST(memory_of_which_the_kernel_has_merged_pages_is_estimated)
{
	struct rt_metrics m;

	write_pool(1);
	execute_other_program(1);
	set_pages(1, ANON, FILES, 1);
	set_pages(ROOT, ANON, FILES, 1);
	for (int i = 0; i <= 1; i++) {
		processes[i].anon_kib = kib(ANON - 300);
		write_process(i);
	}
	fixture_write(&fix.root, "sys/kernel/mm/ksm/pages_sharing", "0\n");
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, 2 * ANON, FILES);
	fixture_write(&fix.root, "sys/kernel/mm/ksm/pages_sharing", "600\n");
	m = sample_pool_after(SECOND);
	check_estimate(&m, -ENODATA);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(2 * (ANON - 300)));
	ck_assert_uint_eq(m.needed_low_bytes, 0);
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(2 * ANON));
}
END_TEST

/* Of 1000 faults of the child only 400 copied a page. From then on as many of the others are taken
 * for that. */
START_TEST(estimate_after_a_read_starts_from_what_was_read)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	processes[1].minflt += 1000;
	for (int i = 0; i <= 1; i++) {
		processes[i].anon_kib = kib(ANON + 400) / 2;
		run_and_write(i);
	}
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + 400, FILES);
	take_savings();
	processes[1].minflt += 500;
	run_and_write(1);

	m = sample_pool_after(5 * MS);

	check_estimate(&m, -EDQUOT);
	ck_assert_uint_ge(m.footprint_anon_bytes, pages_to_bytes(ANON + 600 - 10));
	ck_assert_uint_le(m.footprint_anon_bytes, pages_to_bytes(ANON + 600 + 10));
	/* All of them may be copies. */
	ck_assert_uint_ge(m.needed_high_bytes, pages_to_bytes(ANON + 400 + 500));
}
END_TEST

static void grow_during_a_look(void *arg)
{
	(void)arg;
	processes[1].rss_pages += 300;
	fixture_printf(&fix.root, "proc/101/statm", "9000 %d %d 1 0 100 0\n",
	               (int)processes[1].rss_pages, FILES);
}

/* Its pages grow after its statm was read, and its faults show that in the next sample. */
START_TEST(growth_during_the_read_of_a_member_is_no_copy)
{
	struct rt_metrics m;

	write_pool(1);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS, .max_fds = 1 });
	sample_pool_after(0);
	processes[1].minflt += 1;
	run_and_write(1);
	faults_before_open("101/stat", grow_during_a_look, NULL);
	sample_pool_after(SECOND);
	processes[1].minflt += 300;
	run_and_write(1);

	m = sample_pool_after(SECOND);

	ck_assert_uint_ge(m.footprint_bytes, pages_to_bytes(ANON + FILES + 300));
	ck_assert_uint_le(m.footprint_bytes, pages_to_bytes(ANON + FILES + 310));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory of a tree");
	TCase *exact = add_member_case(suite, "exact"),
	      *changes = add_member_case(suite, "changes"),
	      *estimates = add_member_case(suite, "estimates");

	tcase_add_test(exact, anonymous_pages_of_programs_are_exact_without_a_read);
	tcase_add_test(exact, footprint_of_one_process_is_its_rss);
	tcase_add_test(exact, first_sample_within_the_budget_reads_the_pool);
	tcase_add_test(exact, strangers_that_map_the_same_files_change_nothing);
	tcase_add_test(exact, sum_in_which_nothing_has_changed_stays_exact);
	tcase_add_test(exact, growth_of_a_member_is_added_to_what_was_read);
	tcase_add_test(exact, pages_of_files_that_a_member_maps_are_added_to_the_image);
	tcase_add_test(exact, growth_during_the_read_is_added_once);
	tcase_add_test(exact, release_of_a_member_is_taken_off_what_was_read);
	tcase_add_test(exact, sum_is_read_again_after_ten_seconds);
	tcase_add_test(changes, fork_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, exec_of_the_only_child_leaves_nothing_to_read);
	tcase_add_test(changes, end_of_a_member_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, copies_make_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, changes_of_a_few_pages_leave_the_sum_exact);
	tcase_add_test(changes, change_within_the_budget_is_read_at_once);
	tcase_add_test(estimates, pool_that_was_never_read_is_estimated_and_is_not_rss);
	tcase_add_loop_test(estimates, pool_of_which_one_member_cannot_be_read_is_estimated, 0, 2);
	tcase_add_test(estimates, pool_without_the_kinds_of_pss_is_estimated);
	tcase_add_test(estimates, pool_that_lets_nothing_be_read_is_estimated_and_not_0);
	tcase_add_test(estimates, footprint_of_member_without_statm_has_no_upper_bound);
	tcase_add_test(estimates, member_that_becomes_unreadable_keeps_its_memory);
	tcase_add_test(estimates, member_that_a_read_would_hold_up_too_long_is_not_read);
	tcase_add_test(estimates, tracker_without_memory_reads_estimates);
	tcase_add_test(estimates, memory_of_which_the_kernel_has_merged_pages_is_estimated);
	tcase_add_test(estimates, estimate_after_a_read_starts_from_what_was_read);
	tcase_add_test(estimates, growth_during_the_read_of_a_member_is_no_copy);
	return suite_run(suite);
}
