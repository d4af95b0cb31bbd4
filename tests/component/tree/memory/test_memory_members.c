/* SPDX-License-Identifier: MIT */
/* The memory of a tree: members that change while they are read, and that share with processes
 * outside of the tree. */
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

	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_ge(m.footprint_bytes, pages_to_bytes(ANON));

	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES, 2);
		write_process(i);
	}
	give_savings();
	m = sample_pool_after(100 * MS);
	check_exact(&m, ANON, FILES);
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

	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_le(m.footprint_bytes, pages_to_bytes(ANON + 2 * FILES));
}
END_TEST

/* More than faults explain: from then on the model takes them for copies. */
START_TEST(sum_that_contradicts_for_a_second_is_right)
{
	struct rt_metrics m;

	track_pool(0);
	sample_pool_after(0);
	fork_child(1);
	for (int i = 0; i <= 1; i++) {
		set_pages(i, ANON, FILES, 2);
		processes[i].anon_kib += kib(300);
		processes[i].pss_kib += kib(300);
		write_process(i);
	}
	m = sample_pool_after(SECOND);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.needed_high_bytes, pages_to_bytes(ANON + 600));
	give_savings();
	m = sample_pool_after(500 * MS);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	give_savings();
	m = sample_pool_after(600 * MS);
	check_exact(&m, ANON + 600, FILES);
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

	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_ge(m.footprint_bytes, pages_to_bytes(ANON));
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

	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
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
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	make_process(1, true);
	set_pages(1, ANON, FILES, 1);
	write_process(1);
	processes[ROOT].stack += 1000;
	set_pages(ROOT, ANON / 2, FILES, 1);
	list_children();

	m = sample_pool_after(SECOND);

	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + ANON / 2 + FILES));
}
END_TEST

START_TEST(vforked_child_counts_nothing_until_it_executes)
{
	struct rt_metrics m;

	track_pool(0);
	get_platform(fix.tracker)->have_same_memory = compare_memory;
	is_same_memory = true;
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);

	make_process(1, true);
	set_pages(1, ANON, FILES, 1); /* no page has two users */
	write_process(1);
	list_children();
	give_savings();
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(2 * (ANON + FILES)));
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(get_row(101).pss_bytes, 0);

	is_same_memory = false;
	execute_other_program(1);
	set_pages(1, 200, 100, 1);
	run_and_write(1);
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + 200, FILES);
}
END_TEST

/* Each page counts, also if strangers map it. */
START_TEST(forked_root_has_all_that_it_maps)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].is_forked = true;
	processes[ROOT].pss_kib = kib(ANON + FILES) / 5;
	processes[ROOT].anon_kib = kib(ANON) / 5;
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1000 });
	for (int i = 0; i < 3; i++) {
		m = sample_pool_after(SECOND);
		check_exact(&m, ANON, FILES);
		run_and_write(ROOT);
	}
}
END_TEST

/* What the members have by PSS lacks what the others have of their pages. */
START_TEST(pool_below_a_process_outside_of_the_tree_is_estimated)
{
	struct rt_metrics m;

	write_pool(1);
	processes[ROOT].is_forked = true;
	for (int i = 0; i <= 1; i++) {
		processes[i].anon_kib = kib(ANON) / 5;
		write_process(i);
	}
	track_tree((struct rt_opts){ .pss_share = 1000 });
	m = sample_pool_after(0);
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.needed_low_bytes, pages_to_bytes(ANON));
}
END_TEST

/* Its children are no members, though it shares with them. */
START_TEST(process_tracked_alone_has_all_that_it_maps)
{
	struct rt_metrics m;

	write_pool(_i);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_CHILDREN, .pss_share = 1 });
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);
	take_savings();
	m = sample_pool_after(50 * MS);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_ne(m.valid & RT_HAS_FOOTPRINT, 0);
}
END_TEST

/* --- What is not wanted. --- */

START_TEST(peak_wanted_alone_is_estimated_without_reads)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .want = RT_HAS_PEAK_FOOTPRINT, .pss_share = 1000 });
	faults_on_open("smaps_rollup", -EIO);
	faults_on_open("smaps", -EIO);
	m = take_sample_after(0);

	ck_assert_uint_eq(m.estimated, RT_HAS_PEAK_FOOTPRINT);
	ck_assert_uint_eq(m.valid | m.partial, 0);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.pss_bytes + m.pss_source, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory of members");
	TCase *contradictions = add_member_case(suite, "contradictions"),
	      *members = add_member_case(suite, "members"),
	      *wants = add_member_case(suite, "wants");

	tcase_add_test(contradictions, sum_less_than_what_members_hold_is_not_valid);
	tcase_add_test(contradictions, sum_more_than_members_can_hold_is_not_valid);
	tcase_add_test(contradictions, sum_that_contradicts_for_a_second_is_right);
	tcase_add_test(contradictions, sum_during_which_a_member_ended_is_not_valid);
	tcase_add_test(contradictions, sum_during_which_a_member_became_a_zombie_is_not_valid);
	tcase_add_test(members,
	               child_found_after_its_parent_executed_a_program_shares_nothing_with_it);
	tcase_add_test(members, vforked_child_counts_nothing_until_it_executes);
	tcase_add_test(members, forked_root_has_all_that_it_maps);
	tcase_add_test(members, pool_below_a_process_outside_of_the_tree_is_estimated);
	tcase_add_loop_test(members, process_tracked_alone_has_all_that_it_maps, 0, 2);
	tcase_add_test(wants, peak_wanted_alone_is_estimated_without_reads);
	return suite_run(suite);
}
