/* SPDX-License-Identifier: MIT */
/* The memory model: which child takes the place of a member that leaves, and what others then have
 * in common with it. */
#include "simulated_pages.h"
#include "suite.h"

static int32_t pid_of(int i)
{
	return pages_member(i)->pid;
}

static const struct rti_memory_part *memory_of(int i)
{
	return &pages_member(i)->memory;
}

/* Process 0 of 400 pages has forked three, all of which share all of it. */
static void start_pool(void)
{
	pages_start(0, 400);
	pages_look();
	for (int i = 1; i <= 3; i++)
		pages_fork(0, i);
	pages_look();
}

/* Of several that leave together, the youngest is asked last. So it has to be passed on once. */
START_TEST(youngest_of_equal_children_is_heir)
{
	start_pool();
	rti_memory_leave(&world.table, pages_member(0));

	ck_assert_int_eq(memory_of(3)->parent, 0);
	ck_assert_int_eq(memory_of(1)->parent, pid_of(3));
	ck_assert_int_eq(memory_of(2)->parent, pid_of(3));
	ck_assert_uint_eq(memory_of(3)->forked, 2);
}
END_TEST

START_TEST(child_that_inherited_most_is_heir_before_the_youngest)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_look();
	pages_release(0, 100);
	pages_look();
	pages_fork(0, 2);
	pages_look();
	rti_memory_leave(&world.table, pages_member(0));

	ck_assert_int_eq(memory_of(1)->parent, 0);
	ck_assert_int_eq(memory_of(2)->parent, pid_of(1));
}
END_TEST

START_TEST(child_that_has_exited_is_no_heir)
{
	start_pool();
	pages_member(3)->end.has_exited = true;
	rti_memory_leave(&world.table, pages_member(0));

	ck_assert_int_eq(memory_of(2)->parent, 0);
	ck_assert_int_eq(memory_of(1)->parent, pid_of(2));
	ck_assert_int_eq(memory_of(3)->parent, pid_of(2));
}
END_TEST

START_TEST(members_that_all_exit_inherit_nothing_from_each_other)
{
	start_pool();
	for (int i = 0; i <= 3; i++)
		pages_member(i)->end.has_exited = true;
	for (int i = 0; i <= 3; i++) {
		/* Each shared what it had, and no more than that. */
		ck_assert_uint_eq(rti_memory_leave(&world.table, pages_member(i)), 400);
		for (int other = 0; other <= 3; other++)
			ck_assert_uint_eq(memory_of(other)->forked, 0);
	}
	rti_memory_sum(&world.table, &world.sums);
	ck_assert_uint_eq(world.sums.anon_pages_max, 0);
}
END_TEST

/* Process 2 copies pages, forks process 3 and ends, and is never seen. So process 1 becomes the
 * parent of process 3, and what the two have in common is not known. */
static void find_orphan_late(void)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_look();
	pages_fork(1, 2);
	pages_write(2, 0, 100);
	pages_fork(2, 3);
	pages_end(2);
	world.p[3].parent = 1;
	world.p[3].is_alive = false; /* it is not found at once */
	pages_look();
	world.p[3].is_alive = true;
	pages_look();
	pages_check_bounds();
	ck_assert_int_eq(memory_of(3)->parent, pid_of(1));
}

START_TEST(heir_that_was_found_late_keeps_what_it_may_have_copied_before)
{
	find_orphan_late();
	pages_end(1);
	pages_look();

	ck_assert_int_eq(memory_of(3)->parent, pid_of(0));
	ck_assert_uint_eq(pages_count(), 500);
	pages_check_bounds();
}
END_TEST

/* The heir of process 1 has other pages than that had. So has its sibling, which shares with the
 * heir from then on. */
START_TEST(sibling_of_an_heir_that_was_found_late_may_have_other_pages)
{
	find_orphan_late();
	pages_fork(1, 4);
	pages_release(4, 50); /* so process 3 has inherited more */
	pages_look();
	pages_end(1);
	pages_look();
	ck_assert_int_eq(memory_of(4)->parent, pid_of(3));
	pages_end(0);
	pages_look();

	ck_assert_uint_eq(pages_count(), 450);
	pages_check_bounds();
}
END_TEST

START_TEST(copies_of_a_member_that_leaves_count_for_its_heir_and_the_parent)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_look();
	pages_write(1, 0, 100);
	pages_look();
	pages_fork(1, 2);
	pages_look();
	pages_end(1);
	pages_look();

	ck_assert_uint_eq(pages_count(), 500);
	pages_check_bounds();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_heirs");
	TCase *heirs = suite_case(suite, "heirs"), *bounds = suite_case(suite, "bounds");

	tcase_add_checked_fixture(heirs, pages_set_up, pages_tear_down);
	tcase_add_checked_fixture(bounds, pages_set_up, pages_tear_down);
	tcase_add_test(heirs, youngest_of_equal_children_is_heir);
	tcase_add_test(heirs, child_that_inherited_most_is_heir_before_the_youngest);
	tcase_add_test(heirs, child_that_has_exited_is_no_heir);
	tcase_add_test(heirs, members_that_all_exit_inherit_nothing_from_each_other);
	tcase_add_test(bounds, heir_that_was_found_late_keeps_what_it_may_have_copied_before);
	tcase_add_test(bounds, sibling_of_an_heir_that_was_found_late_may_have_other_pages);
	tcase_add_test(bounds, copies_of_a_member_that_leaves_count_for_its_heir_and_the_parent);
	return suite_run(suite);
}
