/* SPDX-License-Identifier: MIT */
/* The memory of a tree: when what was read of PSS is good as a sum, and what stands in for it. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* The tree was read once. From then on there is no budget for more. */
static void track_pool_and_read_once(int count)
{
	struct rt_metrics m;

	track_pool(count);
	m = sample_pool_after(0);
	check_exact(&m, ANON + FILES);
	take_savings();
}

/* The same, of processes that have no pages of files. */
static void track_anonymous_pool_and_read_once(int count)
{
	struct rt_metrics m;

	write_pool(count);
	for (int i = 0; i <= count; i++) {
		set_pages(i, ANON, 0, (uint64_t)count + 1);
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, ANON);
	take_savings();
}

/* After a change the sum is an estimate of so many pages. Once all is read again it is what was
 * read: so many pages. */
static void check_estimated_until_read(uint64_t estimated, uint64_t read)
{
	struct rt_metrics m = sample_pool_after(5 * MS);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EDQUOT);
	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(estimated - estimated / 50));
	ck_assert_uint_le(m.pss_bytes, pages_to_bytes(estimated + estimated / 50));
	give_savings();
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	check_exact(&m, read);
}

/* --- Exact. --- */

START_TEST(first_sample_within_the_budget_reads_pss)
{
	struct rt_metrics m;

	track_pool(3);
	m = sample_pool_after(0);

	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	check_exact(&m, ANON + FILES);
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_TREE, 0);
	ck_assert_uint_eq(m.peak_tree_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.peak_tree_pss_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

START_TEST(sum_in_which_nothing_has_changed_stays_exact_and_ages)
{
	struct rt_metrics m;

	track_anonymous_pool_and_read_once(3);
	for (uint64_t i = 1; i <= 5; i++) {
		m = sample_pool_after(SECOND);
		ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
		ck_assert_uint_eq(m.pss_age_ns, i * SECOND);
		check_exact(&m, ANON);
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

	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, 5 * MS);
	check_exact(&m, ANON + FILES + 100);
}
END_TEST

/* 20 pages of the program, which its siblings have mapped. */
START_TEST(pages_of_files_that_a_member_maps_are_not_added_to_what_was_read)
{
	struct rt_metrics m;

	track_pool_and_read_once(3);
	processes[2].rss_pages += 20;
	processes[2].shared_pages += 20;
	run_and_write(2);

	m = sample_pool_after(5 * MS);

	check_exact(&m, ANON + FILES);
}
END_TEST

static void grow_root(void *arg)
{
	(void)arg;
	set_pages(ROOT, ANON + 1000, FILES, 1);
	processes[ROOT].pss_kib -= kib(500);
	write_process(ROOT);
}

/* statm was read before it grew, and smaps_rollup after it. So the growth is in what was read. */
START_TEST(growth_during_the_read_of_pss_is_added_once)
{
	struct rt_metrics m;

	write_pool(0);
	track_tree((struct rt_opts){ .pss_share = 1 });
	faults_before_open("100/smaps_rollup", grow_root, NULL);
	sample_pool_after(0);
	take_savings();
	run_child(ROOT);

	m = sample_pool_after(5 * MS);

	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + 1000 + FILES - 500));
}
END_TEST

/* It shares some pages of files with processes outside of the tree. */
START_TEST(release_of_a_member_is_taken_off_what_was_read)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].pss_kib -= kib(500);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	sample_pool_after(0);
	take_savings();
	processes[ROOT].rss_pages -= 300;
	run_and_write(ROOT);

	m = sample_pool_after(5 * MS);

	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	check_exact(&m, ANON + FILES - 500 - 300);
}
END_TEST

/* Other processes may map and unmap the libraries of the members. */
START_TEST(sum_is_read_again_after_ten_seconds)
{
	struct rt_metrics m;

	track_anonymous_pool_and_read_once(2);
	give_savings();
	for (int i = 0; i <= 2; i++) {
		processes[i].pss_kib -= kib(5);
		processes[i].anon_kib -= kib(5);
		write_process(i);
	}
	m = sample_pool_after(9 * SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	check_exact(&m, ANON);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	check_exact(&m, ANON - 15);
}
END_TEST

START_TEST(sum_that_cannot_be_read_again_becomes_an_estimate)
{
	struct rt_metrics m;

	track_anonymous_pool_and_read_once(2);
	set_pss_savings(fix.tracker, -(int64_t)SECOND); /* no read for a thousand seconds */
	do
		m = sample_pool_after(SECOND);
	while (m.valid & RT_HAS_PSS && m.pss_age_ns < 60 * SECOND);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_ge(m.pss_age_ns, 10 * SECOND);
}
END_TEST

/* --- No longer exact. --- */

START_TEST(fork_makes_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(1);
	fork_child(2);
	for (int i = 0; i <= 2; i++) {
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	check_estimated_until_read(ANON + FILES, ANON + FILES);
}
END_TEST

START_TEST(exec_makes_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(1);
	execute_other_program(1);
	set_pages(1, 500, 300, 1);
	set_pages(ROOT, ANON, FILES, 1);
	run_and_write(1);
	write_process(ROOT);
	/* The libraries that two programs map alike are taken to be known from the first. */
	check_estimated_until_read(ANON + 500 + FILES, ANON + 500 + FILES + 300);
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
	check_estimated_until_read(ANON + FILES, ANON + FILES);
}
END_TEST

START_TEST(copies_make_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(1);
	processes[1].minflt += 600;
	run_and_write(1);
	processes[1].pss_kib += kib(300);
	processes[1].anon_kib += kib(300);
	processes[ROOT].pss_kib += kib(300);
	processes[ROOT].anon_kib += kib(300);
	write_process(ROOT);
	write_process(1);
	check_estimated_until_read(ANON + FILES + 600, ANON + FILES + 600);
}
END_TEST

START_TEST(growth_of_shared_pages_makes_the_sum_an_estimate_until_all_is_read_again)
{
	track_pool_and_read_once(1);
	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES + 1000, 2);
		processes[i].minflt += 63;
		run_and_write(i);
	}
	check_estimated_until_read(ANON + FILES + 1000, ANON + FILES + 1000);
}
END_TEST

/* A hundredth of the sum. */
START_TEST(changes_of_a_few_pages_leave_the_sum_exact)
{
	struct rt_metrics m;

	track_pool_and_read_once(1);
	processes[1].minflt += 20;
	run_and_write(1);
	m = sample_pool_after(5 * MS);
	check_exact(&m, ANON + FILES);

	processes[1].minflt += 20; /* 40 of 2400 in all */
	run_and_write(1);
	m = sample_pool_after(5 * MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
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
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	check_exact(&m, ANON + FILES);
}
END_TEST

/* --- Estimates. --- */

START_TEST(pss_that_was_never_read_is_estimated_and_is_not_rss)
{
	struct rt_metrics m;

	track_pool(3);
	take_savings();
	m = sample_pool_after(0);

	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(4 * (ANON + FILES)));
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_ge(m.pss_low_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EDQUOT);
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_TREE, 0);
	ck_assert_uint_eq(m.peak_tree_bytes, m.pss_bytes);
	ck_assert_uint_eq(m.peak_tree_pss_bytes, 0);
}
END_TEST

START_TEST(pss_of_one_member_that_cannot_be_read_is_estimated)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .pss_share = _i ? 1000 : 1 });
	faults_on_open("102/smaps_rollup", -EACCES);
	for (int i = 0; i < 5; i++) {
		m = sample_pool_after(SECOND);
		ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
		ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EACCES);
		ck_assert_uint_ge(m.pss_bytes, pages_to_bytes((ANON + FILES) * 9 / 10));
		ck_assert_uint_le(m.pss_bytes, pages_to_bytes((ANON + FILES) * 11 / 10));
	}
	faults_on_open("102/smaps_rollup", 0);
	give_savings();
	m = sample_pool_after(2 * SECOND);
	check_exact(&m, ANON + FILES);
}
END_TEST

START_TEST(pss_that_no_member_lets_read_is_estimated_and_not_0)
{
	struct rt_metrics m;

	track_pool(2);
	faults_on_open("smaps_rollup", -EACCES);
	m = sample_pool_after(0);

	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EACCES);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(get_row(101).valid & RT_HAS_PSS, 0);
	ck_assert_uint_ne(get_row(101).estimated & RT_HAS_PSS, 0);
	ck_assert_uint_gt(get_row(101).pss_bytes, 0);
}
END_TEST

/* A member of which not even statm can be read is no member without memory. */
START_TEST(pss_of_member_without_statm_is_not_valid)
{
	struct rt_metrics m;

	write_pool(1);
	make_process(2, false);
	set_pages(2, ANON, FILES, 1);
	write_process(2);
	list_children();
	track_tree((struct rt_opts){ .pss_share = 1 });
	faults_on_open("102/statm", -EACCES);
	faults_on_open("102/smaps_rollup", -EACCES);
	m = take_sample_after(0);

	ck_assert_uint_eq(m.valid & RT_HAS_PSS, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EACCES);
	ck_assert_uint_eq(get_row(102).valid & RT_HAS_PSS, 0);
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
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(2 * ANON + FILES));
	faults_on_open("102/statm", -EACCES);
	faults_on_read("102/statm", -EACCES);
	run_child(2);

	m = take_sample_after(SECOND);

	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(2 * ANON + FILES));
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EACCES);
}
END_TEST

static void note_open(void *arg)
{
	*(bool *)arg = true;
}

/* A read of the child would hold it up for 100 us. */
START_TEST(member_that_a_read_would_hold_up_too_long_is_not_read)
{
	static bool is_opened;
	struct rt_metrics m;

	write_pool(0);
	set_pages(ROOT, 40, 20, 1);
	write_process(ROOT);
	make_process(1, false);
	set_pages(1, ANON, FILES, 1);
	write_process(1);
	list_children();
	track_tree((struct rt_opts){ .pss_share = 1000, .pss_hold_us = 20 });
	faults_before_open("101/smaps_rollup", note_open, &is_opened);
	for (int i = 0; i < 3; i++) {
		run_and_write(ROOT);
		m = sample_pool_after(SECOND);
		ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(ANON + FILES));
	}
	ck_assert(!is_opened);
	ck_assert_uint_eq(get_row(100).pss_source, RT_PSS_READ);
}
END_TEST

START_TEST(tracker_without_pss_reads_estimates)
{
	static bool is_opened;
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS, .pss_share = 1000 });
	faults_before_open("smaps_rollup", note_open, &is_opened);
	for (int i = 0; i < 3; i++) {
		run_and_write(1);
		m = sample_pool_after(20 * SECOND);
		ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
		ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
		ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	}
	ck_assert(!is_opened);
}
END_TEST

/* Of 1000 faults of the child only 400 copied a page, and half of the files are mapped by processes
 * outside of the tree as well. From then on the model knows that. */
START_TEST(estimate_after_a_read_starts_from_what_was_read)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	processes[1].minflt += 1000;
	for (int i = 0; i <= 1; i++) {
		processes[i].anon_kib = kib(ANON + 400) / 2;
		processes[i].pss_kib = processes[i].anon_kib + kib(FILES / 2) / 2;
		run_and_write(i);
	}
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + 400 + FILES / 2);
	take_savings();
	processes[1].minflt += 200;
	run_and_write(1);

	m = sample_pool_after(5 * MS);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(ANON + 600 + FILES / 2 - 10));
	ck_assert_uint_le(m.pss_bytes, pages_to_bytes(ANON + 600 + FILES / 2 + 10));
}
END_TEST

/* What is no file is in memory, whether other processes map it or not. */
START_TEST(shared_memory_is_in_the_lower_bound)
{
	struct rt_metrics m;

	write_pool(1);
	for (int i = 0; i <= 1; i++) {
		processes[i].shmem_kib = kib(FILES - 100);
		write_process(i);
	}
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS });
	m = sample_pool_after(0);

	ck_assert_uint_eq(m.pss_low_bytes, pages_to_bytes(ANON + FILES - 100));
}
END_TEST

static void grow_first_child(void *arg)
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
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS, .max_fds = 1 });
	sample_pool_after(0);
	processes[1].minflt += 1;
	run_and_write(1);
	faults_before_open("101/stat", grow_first_child, NULL);
	sample_pool_after(SECOND);
	processes[1].minflt += 300;
	run_and_write(1);

	m = sample_pool_after(SECOND);

	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(ANON + FILES + 300));
	ck_assert_uint_le(m.pss_bytes, pages_to_bytes(ANON + FILES + 310));
}
END_TEST

/* A program of its own, which maps the same libraries. */
START_TEST(pages_of_files_count_once_for_each_program)
{
	struct rt_metrics m;

	write_pool(2);
	for (int i = 1; i <= 2; i++) {
		make_process(i, false);
		set_pages(i, 100, i == 1 ? 1000 : 700, 1);
		processes[i].exe = "/bin/other";
		write_process(i);
	}
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + 100 + 100 + 1000));

	processes[2].exe = "/bin/third";
	processes[2].stack += 5;
	run_and_write(2);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + 100 + 100 + 1000 + 100));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory of a tree");
	TCase *exact = add_member_case(suite, "exact"),
	      *changes = add_member_case(suite, "changes"),
	      *estimates = add_member_case(suite, "estimates");

	tcase_add_test(exact, first_sample_within_the_budget_reads_pss);
	tcase_add_test(exact, sum_in_which_nothing_has_changed_stays_exact_and_ages);
	tcase_add_test(exact, growth_of_a_member_is_added_to_what_was_read);
	tcase_add_test(exact, pages_of_files_that_a_member_maps_are_not_added_to_what_was_read);
	tcase_add_test(exact, growth_during_the_read_of_pss_is_added_once);
	tcase_add_test(exact, release_of_a_member_is_taken_off_what_was_read);
	tcase_add_test(exact, sum_is_read_again_after_ten_seconds);
	tcase_add_test(exact, sum_that_cannot_be_read_again_becomes_an_estimate);
	tcase_add_test(changes, fork_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, exec_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, end_of_a_member_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, copies_make_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes,
	               growth_of_shared_pages_makes_the_sum_an_estimate_until_all_is_read_again);
	tcase_add_test(changes, changes_of_a_few_pages_leave_the_sum_exact);
	tcase_add_test(changes, change_within_the_budget_is_read_at_once);
	tcase_add_test(estimates, pss_that_was_never_read_is_estimated_and_is_not_rss);
	tcase_add_loop_test(estimates, pss_of_one_member_that_cannot_be_read_is_estimated, 0, 2);
	tcase_add_test(estimates, pss_that_no_member_lets_read_is_estimated_and_not_0);
	tcase_add_test(estimates, pss_of_member_without_statm_is_not_valid);
	tcase_add_test(estimates, member_that_becomes_unreadable_keeps_its_memory);
	tcase_add_test(estimates, member_that_a_read_would_hold_up_too_long_is_not_read);
	tcase_add_test(estimates, tracker_without_pss_reads_estimates);
	tcase_add_test(estimates, estimate_after_a_read_starts_from_what_was_read);
	tcase_add_test(estimates, shared_memory_is_in_the_lower_bound);
	tcase_add_test(estimates, growth_during_the_read_of_a_member_is_no_copy);
	tcase_add_test(estimates, pages_of_files_count_once_for_each_program);
	return suite_run(suite);
}
