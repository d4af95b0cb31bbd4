/* SPDX-License-Identifier: MIT */
/* The memory of a tree: members that change while they are read, that share with processes
 * outside of the tree, and the rows of members. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* --- Reads that contradict. --- */

/* While the root is read it has all pages for itself. Then it forks, so that the child has half of
 * them. */
START_TEST(sum_less_than_what_members_hold_is_not_valid)
{
	struct rt_metrics m;

	track_pool(1);
	set_pages(ROOT, ANON, FILES, 4);
	set_pages(1, ANON, FILES, 4);
	write_process(ROOT);
	write_process(1);
	m = sample_pool_after(0);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(ANON));

	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES, 2);
		write_process(i);
	}
	give_savings();
	m = sample_pool_after(100 * MS);
	check_exact(&m, ANON + FILES);
}
END_TEST

START_TEST(sum_more_than_members_can_hold_is_not_valid)
{
	struct rt_metrics m;

	track_pool(0);
	sample_pool_after(0);
	fork_child(1);
	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES, 1);
		run_and_write(i);
	}
	m = sample_pool_after(SECOND);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_le(m.pss_bytes, pages_to_bytes(ANON + 2 * FILES));
}
END_TEST

/* A process that runs maps some pages between the reads of statm and smaps_rollup. */
START_TEST(sum_a_few_pages_beyond_the_model_is_valid)
{
	struct rt_metrics m;

	write_pool(0);
	set_pages(ROOT, 40, FILES, 1);
	processes[ROOT].anon_kib += kib(3);
	processes[ROOT].pss_kib += kib(3);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);

	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(40 + FILES));
	ck_assert_uint_le(m.pss_bytes, pages_to_bytes(43 + FILES));
}
END_TEST

START_TEST(sum_that_contradicts_for_a_second_is_right)
{
	struct rt_metrics m;

	track_pool(1);
	set_pages(ROOT, ANON, FILES, 4);
	set_pages(1, ANON, FILES, 4);
	write_process(ROOT);
	write_process(1);
	sample_pool_after(0);
	give_savings();
	m = sample_pool_after(500 * MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	give_savings();
	m = sample_pool_after(600 * MS);
	check_exact(&m, (ANON + FILES) / 2);
}
END_TEST

static void remove_first_child(void *arg)
{
	(void)arg;
	fake_process_remove(&fix.root, 101);
	end_cpu_clock(1);
}

/* The kernel divides pages by those that have them at that moment. */
START_TEST(sum_during_which_a_member_ended_is_not_valid)
{
	struct rt_metrics m;

	track_pool(2);
	faults_before_open("102/smaps_rollup", remove_first_child, NULL);
	m = sample_pool_after(0);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_ge(m.pss_bytes, pages_to_bytes(ANON));
}
END_TEST

static void release_memory_of_first_child(void *arg)
{
	(void)arg;
	fixture_write(&fix.root, "proc/101/statm", "0 0 0 0 0 0 0\n");
}

START_TEST(sum_during_which_a_member_became_a_zombie_is_not_valid)
{
	struct rt_metrics m;

	track_pool(2);
	faults_before_open("102/smaps_rollup", release_memory_of_first_child, NULL);
	m = sample_pool_after(0);

	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
}
END_TEST

/* --- Special members. --- */

static bool is_same_memory;

static bool compare_memory(int32_t pid, int32_t other)
{
	return is_same_memory && pid != other;
}

/* A child keeps the memory of the program that its parent ran when it forked. The parent runs
 * another one by the time that the child is found. */
START_TEST(child_found_after_its_parent_executed_a_program_shares_nothing_with_it)
{
	struct rt_metrics m;

	write_pool(0);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	make_process(1, true);
	set_pages(1, ANON, FILES, 1);
	write_process(1);
	processes[ROOT].stack += 1000;
	set_pages(ROOT, ANON / 2, FILES, 1);
	list_children();

	m = sample_pool_after(SECOND);

	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + ANON / 2 + FILES));
}
END_TEST

START_TEST(vforked_child_counts_nothing_until_it_executes)
{
	struct rt_metrics m;

	track_pool(0);
	get_platform(fix.tracker)->have_same_memory = compare_memory;
	is_same_memory = true;
	m = sample_pool_after(0);
	check_exact(&m, ANON + FILES);

	make_process(1, true);
	set_pages(1, ANON, FILES, 1); /* no page has two users */
	write_process(1);
	list_children();
	give_savings();
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(2 * (ANON + FILES)));
	check_exact(&m, ANON + FILES);
	ck_assert_uint_eq(get_row(101).pss_bytes, 0);

	is_same_memory = false;
	execute_other_program(1);
	set_pages(1, 200, 100, 1);
	run_and_write(1);
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + FILES + 300);
}
END_TEST

/* Others than members share with it, and their forks and ends are not seen. */
START_TEST(forked_root_is_exact_only_if_read_in_this_sample)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].is_forked = true;
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, ANON + FILES);
	take_savings();
	m = sample_pool_after(MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + FILES);
}
END_TEST

START_TEST(process_tracked_alone_without_children_is_exact)
{
	struct rt_metrics m;

	write_pool(0);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_CHILDREN, .pss_share = 1 });
	sample_pool_after(0);
	take_savings();
	m = sample_pool_after(50 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	check_exact(&m, ANON + FILES);
}
END_TEST

START_TEST(process_tracked_alone_with_children_is_exact_only_if_read_in_this_sample)
{
	struct rt_metrics m;

	write_pool(_i ? 1 : 0);
	if (!_i) {
		processes[ROOT].cminflt = 5; /* it had some */
		write_process(ROOT);
	}
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_CHILDREN, .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	take_savings();
	m = sample_pool_after(MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
}
END_TEST

/* --- Rows. --- */

static uint64_t sum_rows(int count)
{
	uint64_t sum = 0;

	for (int i = 0; i <= count; i++)
		sum += get_row(100 + i).pss_bytes;
	return sum;
}

START_TEST(rows_of_an_exact_sum_are_valid_and_add_up)
{
	struct rt_metrics m;

	track_pool(3);
	m = sample_pool_after(0);
	for (int i = 0; i <= 3; i++) {
		struct rt_process row = get_row(100 + i);

		ck_assert_uint_eq(row.pss_bytes, pages_to_bytes((ANON + FILES) / 4));
		ck_assert_uint_ne(row.valid & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.pss_source, RT_PSS_READ);
	}
	ck_assert_uint_eq(sum_rows(3), m.pss_bytes);
	sample_pool_after(MS);
	ck_assert_uint_eq(get_row(101).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(get_row(101).pss_age_ns, MS);
}
END_TEST

START_TEST(rows_of_an_estimate_are_estimated_and_add_up)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_PSS_READS });
	m = sample_pool_after(0);
	for (int i = 0; i <= 3; i++) {
		struct rt_process row = get_row(100 + i);

		ck_assert_uint_eq(row.valid & RT_HAS_PSS, 0);
		ck_assert_uint_ne(row.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.pss_source, RT_PSS_ESTIMATED);
	}
	ck_assert_uint_ge(sum_rows(3) + pages_to_bytes(4), m.pss_bytes);
	ck_assert_uint_le(sum_rows(3), m.pss_bytes + pages_to_bytes(4));
}
END_TEST

START_TEST(row_of_a_zombie_has_no_pss)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	processes[1].is_zombie = true;
	set_pages(ROOT, ANON, FILES, 1);
	run_and_write(1);
	write_process(ROOT);
	faults_on_open("101/smaps_rollup", -ESRCH);
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + FILES);
	ck_assert_uint_eq(get_row(101).pss_bytes, 0);
	ck_assert_uint_ne(get_row(101).valid & RT_HAS_PSS, 0);
}
END_TEST

/* --- What is not wanted. --- */

START_TEST(peak_wanted_alone_is_estimated_without_pss)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .want = RT_HAS_PEAK_TREE, .pss_share = 1000 });
	faults_on_open("smaps_rollup", -EIO);
	m = take_sample_after(0);

	ck_assert_uint_eq(m.estimated, RT_HAS_PEAK_TREE);
	ck_assert_uint_eq(m.valid | m.partial, 0);
	ck_assert_uint_eq(m.peak_tree_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.pss_bytes + m.pss_low_bytes + m.pss_high_bytes + m.pss_source, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory of members");
	TCase *contradictions = add_member_case(suite, "contradictions"),
	      *members = add_member_case(suite, "members"), *rows = add_member_case(suite, "rows"),
	      *wants = add_member_case(suite, "wants");

	tcase_add_test(contradictions, sum_less_than_what_members_hold_is_not_valid);
	tcase_add_test(contradictions, sum_more_than_members_can_hold_is_not_valid);
	tcase_add_test(contradictions, sum_a_few_pages_beyond_the_model_is_valid);
	tcase_add_test(contradictions, sum_that_contradicts_for_a_second_is_right);
	tcase_add_test(contradictions, sum_during_which_a_member_ended_is_not_valid);
	tcase_add_test(contradictions, sum_during_which_a_member_became_a_zombie_is_not_valid);
	tcase_add_test(members,
	               child_found_after_its_parent_executed_a_program_shares_nothing_with_it);
	tcase_add_test(members, vforked_child_counts_nothing_until_it_executes);
	tcase_add_test(members, forked_root_is_exact_only_if_read_in_this_sample);
	tcase_add_test(members, process_tracked_alone_without_children_is_exact);
	tcase_add_loop_test(
	    members, process_tracked_alone_with_children_is_exact_only_if_read_in_this_sample, 0,
	    2);
	tcase_add_test(rows, rows_of_an_exact_sum_are_valid_and_add_up);
	tcase_add_test(rows, rows_of_an_estimate_are_estimated_and_add_up);
	tcase_add_test(rows, row_of_a_zombie_has_no_pss);
	tcase_add_test(wants, peak_wanted_alone_is_estimated_without_pss);
	return suite_run(suite);
}
