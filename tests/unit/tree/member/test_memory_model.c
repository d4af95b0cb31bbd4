/* SPDX-License-Identifier: MIT */
/* The memory model: what each event means for the pages that the members of a tree hold
 * together. */
#include "simulated_pages.h"
#include "suite.h"

static void check_estimate(uint64_t expected)
{
	pages_look();
	ck_assert_uint_eq(pages_count(), expected);
	ck_assert_uint_eq(world.sums.anon_pages, expected);
	pages_check_bounds();
}

START_TEST(forked_processes_that_sleep_add_nothing)
{
	pages_start(0, 400);
	pages_look();
	for (int i = 1; i < PAGES_PROCESSES; i++)
		pages_fork(0, i);
	check_estimate(400);
	ck_assert_uint_eq(world.sums.rss_pages, PAGES_PROCESSES * 401);
	ck_assert_uint_eq(world.sums.anon_pages_min, 400);
	ck_assert_uint_eq(world.sums.anon_pages_max, 400);
}
END_TEST

START_TEST(pages_that_a_child_copies_are_added)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();
	pages_write(1, 10, 50);
	pages_write(2, 100, 200);
	check_estimate(650);
	pages_write(1, 100, 30);
	check_estimate(680);
}
END_TEST

START_TEST(pages_that_the_parent_copies_are_added_once)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();
	pages_write(0, 10, 50);
	check_estimate(450);
}
END_TEST

/* The first child keeps both, and the second the pages that were written to after it was forked. */
START_TEST(pages_that_the_parent_copies_between_two_forks_are_added)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_look();
	pages_write(0, 0, 100);
	pages_look();
	pages_fork(0, 2);
	pages_look();
	pages_write(0, 200, 50);
	check_estimate(550);
}
END_TEST

/* The second write makes the page writable again, for its other users have copied it. */
START_TEST(pages_that_both_sides_write_to_are_no_more_than_the_upper_bound)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_write(0, 10, 50);
	pages_write(1, 10, 50);
	pages_look();
	ck_assert_uint_eq(pages_count(), 450);
	ck_assert_uint_ge(world.sums.anon_pages, 450);
	ck_assert_uint_le(world.sums.anon_pages, 500);
	pages_check_bounds();
}
END_TEST

START_TEST(copies_of_all_inherited_pages_end_at_their_number)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_write(1, 0, 400);
	pages_write(1, 0, 400);
	pages_write(1, 0, 400);
	check_estimate(800);
}
END_TEST

START_TEST(pages_that_a_child_maps_itself_are_its_own)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_grow(1, 100);
	check_estimate(500);
	ck_assert_uint_eq(world.sums.anon_pages_min, 500);
	pages_grow(0, 30);
	check_estimate(530);
}
END_TEST

START_TEST(fork_of_a_forked_process_adds_its_copies_alone)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_fork(1, 2);
	check_estimate(400);
	pages_write(2, 0, 100);
	check_estimate(500);
	pages_write(1, 200, 50);
	check_estimate(550);
}
END_TEST

START_TEST(exec_of_a_child_ends_its_sharing)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_execute(1, 30);
	check_estimate(430);
	ck_assert_uint_eq(world.sums.anon_pages_min, 430);
	ck_assert_uint_eq(world.sums.anon_pages_max, 430);
}
END_TEST

START_TEST(exec_of_the_parent_leaves_its_pages_to_its_children)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();
	pages_execute(0, 20);
	check_estimate(420);
}
END_TEST

START_TEST(end_of_the_parent_leaves_its_pages_to_its_children)
{
	pages_start(0, 400);
	for (int i = 1; i < 5; i++)
		pages_fork(0, i);
	pages_look();
	pages_end(0);
	check_estimate(400);
	pages_write(2, 0, 100);
	check_estimate(500);
	pages_end(1);
	check_estimate(500);
	pages_end(3);
	pages_end(4);
	pages_look();
	ck_assert_uint_eq(pages_count(), 400);
	ck_assert_uint_eq(world.sums.anon_pages_min, 400);
	pages_check_bounds();
}
END_TEST

START_TEST(end_of_a_process_in_the_middle_links_its_child_to_its_parent)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_fork(1, 2);
	pages_look();
	pages_end(1);
	check_estimate(400);
	pages_write(2, 0, 60);
	check_estimate(460);
}
END_TEST

START_TEST(end_of_the_only_child_leaves_the_parent_alone)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_write(0, 0, 100);
	pages_write(1, 200, 100);
	check_estimate(600);
	pages_end(1);
	check_estimate(400);
	ck_assert_uint_eq(world.sums.anon_pages_max, 400);
}
END_TEST

START_TEST(copies_of_an_heir_stay)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();
	pages_write(1, 0, 100);
	check_estimate(500);
	pages_end(0);
	check_estimate(500);
}
END_TEST

START_TEST(copies_made_before_the_child_was_found_count)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_write(1, 0, 100);
	pages_grow(1, 20);
	check_estimate(520);
}
END_TEST

START_TEST(copies_that_the_parent_made_before_the_child_was_found_are_below_the_upper_bound)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_write(0, 0, 100);
	pages_look();
	pages_check_bounds();
}
END_TEST

START_TEST(pages_that_the_parent_released_after_the_fork_stay_with_the_child)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_release(0, 300);
	check_estimate(400);
}
END_TEST

START_TEST(pages_that_the_parent_released_count_beside_those_of_others)
{
	pages_start(0, 400);
	pages_start(2, 50);
	pages_fork(0, 1);
	pages_look();
	pages_release(0, 300);
	check_estimate(450);
}
END_TEST

START_TEST(pages_that_the_parent_released_before_the_child_was_found_stay_with_the_child)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_release(0, 300);
	check_estimate(400);
}
END_TEST

START_TEST(pages_that_the_parent_released_and_two_children_share_count_once)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_release(0, 300);
	check_estimate(400);
}
END_TEST

START_TEST(pages_that_a_child_released_stay_with_the_parent)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_release(1, 300);
	check_estimate(400);
}
END_TEST

START_TEST(pages_that_a_child_released_and_mapped_anew_are_its_own)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_release(1, 200);
	pages_look();
	pages_grow(1, 200);
	pages_look();
	ck_assert_uint_eq(pages_count(), 600);
	pages_check_bounds();
}
END_TEST

START_TEST(member_with_an_unknown_parent_has_its_pages_for_itself)
{
	pages_start(0, 100);
	pages_fork(0, 1);
	pages_grow(1, 50);
	pages_end(0);
	check_estimate(150);
}
END_TEST

START_TEST(orphan_found_late_is_no_more_than_the_lower_bound)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_fork(1, 2);
	pages_end(1);
	pages_look();
	pages_check_bounds();
}
END_TEST

/* Pages of files are faulted in by many at a time. They are no copies. */
START_TEST(faults_in_files_are_no_copies)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	world.p[1].shared_pages += 800;
	world.p[1].faults += 800 / 16;
	check_estimate(400);
	ck_assert_uint_eq(world.sums.copied_pages, 0);
}
END_TEST

START_TEST(process_in_the_space_of_its_parent_counts_in_rss_alone)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_look();
	pages_member(1)->memory.has_parents_space = true;
	rti_memory_sum(&world.table, &world.sums);
	ck_assert_uint_eq(world.sums.rss_pages, 802); /* with a page of a file each */
	ck_assert_uint_eq(world.sums.anon_pages, 400);
	ck_assert_uint_eq(world.sums.anon_pages_max, 400);
}
END_TEST

START_TEST(looks_of_one_address_space_are_alike)
{
	const struct rti_memory_look a = { .rss_pages = 5000,
		                           .shared_pages = 700,
		                           .size_pages = 9000 };
	struct rti_memory_look b = a;

	b.rss_pages += 60; /* each CPU adds up pages before it counts them */
	b.shared_pages -= 60;
	ck_assert(rti_memory_looks_alike(&a, &b));
	b = a;
	b.size_pages++;
	ck_assert(!rti_memory_looks_alike(&a, &b));
	b = a;
	b.rss_pages += 1000;
	ck_assert(!rti_memory_looks_alike(&a, &b));
	b = a;
	b.shared_pages = 0;
	ck_assert(!rti_memory_looks_alike(&a, &b));
}
END_TEST

/* --- How far what was read may have moved. --- */

START_TEST(changes_of_sharing_are_reported)
{
	struct rti_memory_part *parent, *child;
	struct rti_memory_look l;

	pages_start(0, 400);
	world.p[0].shared_pages = 50;
	pages_look();
	pages_fork(0, 1);
	l = pages_look_at(1);
	pages_join(1, &l);
	parent = &pages_member(0)->memory;
	child = &pages_member(1)->memory;

	ck_assert_uint_eq(rti_memory_update(parent, &parent->look, 1), 0);
	pages_write(0, 0, 30);
	l = pages_look_at(0);
	ck_assert_uint_eq(rti_memory_update(parent, &l, 1), 30);
	pages_release(1, 20);
	l = pages_look_at(1);
	ck_assert_uint_eq(rti_memory_update(child, &l, 1), 20);
	world.p[1].shared_pages += 7;
	l = pages_look_at(1);
	ck_assert_uint_eq(rti_memory_update(child, &l, 1), 0);
	pages_grow(1, 25); /* its own: nothing is shared more or less by that */
	l = pages_look_at(1);
	ck_assert_uint_eq(rti_memory_update(child, &l, 1), 0);
	rti_memory_sum(&world.table, &world.sums);
	ck_assert_uint_ge(rti_memory_leave(&world.table, pages_member(1)), 400 - 20);
}
END_TEST

START_TEST(process_without_relatives_reports_nothing)
{
	struct rti_memory_look l;

	pages_start(0, 400);
	pages_look();
	pages_write(0, 0, 100);
	pages_release(0, 50);
	l = pages_look_at(0);
	ck_assert_uint_eq(rti_memory_update(&pages_member(0)->memory, &l, 1), 0);
	world.p[0].shared_pages += 40;
	l = pages_look_at(0);
	ck_assert_uint_eq(rti_memory_update(&pages_member(0)->memory, &l, 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_model");
	TCase *events = suite_case(suite, "events");
	TCase *drift = suite_case(suite, "drift");

	tcase_add_checked_fixture(events, pages_set_up, pages_tear_down);
	tcase_add_checked_fixture(drift, pages_set_up, pages_tear_down);
	tcase_add_test(events, forked_processes_that_sleep_add_nothing);
	tcase_add_test(events, pages_that_a_child_copies_are_added);
	tcase_add_test(events, pages_that_the_parent_copies_are_added_once);
	tcase_add_test(events, pages_that_the_parent_copies_between_two_forks_are_added);
	tcase_add_test(events, pages_that_both_sides_write_to_are_no_more_than_the_upper_bound);
	tcase_add_test(events, copies_of_all_inherited_pages_end_at_their_number);
	tcase_add_test(events, pages_that_a_child_maps_itself_are_its_own);
	tcase_add_test(events, fork_of_a_forked_process_adds_its_copies_alone);
	tcase_add_test(events, exec_of_a_child_ends_its_sharing);
	tcase_add_test(events, exec_of_the_parent_leaves_its_pages_to_its_children);
	tcase_add_test(events, end_of_the_parent_leaves_its_pages_to_its_children);
	tcase_add_test(events, end_of_a_process_in_the_middle_links_its_child_to_its_parent);
	tcase_add_test(events, end_of_the_only_child_leaves_the_parent_alone);
	tcase_add_test(events, copies_of_an_heir_stay);
	tcase_add_test(events, copies_made_before_the_child_was_found_count);
	tcase_add_test(
	    events,
	    copies_that_the_parent_made_before_the_child_was_found_are_below_the_upper_bound);
	tcase_add_test(events, pages_that_the_parent_released_after_the_fork_stay_with_the_child);
	tcase_add_test(events, pages_that_the_parent_released_count_beside_those_of_others);
	tcase_add_test(
	    events, pages_that_the_parent_released_before_the_child_was_found_stay_with_the_child);
	tcase_add_test(events, pages_that_the_parent_released_and_two_children_share_count_once);
	tcase_add_test(events, pages_that_a_child_released_stay_with_the_parent);
	tcase_add_test(events, pages_that_a_child_released_and_mapped_anew_are_its_own);
	tcase_add_test(events, member_with_an_unknown_parent_has_its_pages_for_itself);
	tcase_add_test(events, orphan_found_late_is_no_more_than_the_lower_bound);
	tcase_add_test(events, faults_in_files_are_no_copies);
	tcase_add_test(events, process_in_the_space_of_its_parent_counts_in_rss_alone);
	tcase_add_test(events, looks_of_one_address_space_are_alike);
	tcase_add_test(drift, changes_of_sharing_are_reported);
	tcase_add_test(drift, process_without_relatives_reports_nothing);
	return suite_run(suite);
}
