/* SPDX-License-Identifier: MIT */
/* The memory model at its ends: a member without memory, and a read of more than can be. */
#include "simulated_pages.h"
#include "suite.h"

/* Its last look may still say what it had. */
START_TEST(member_without_memory_leaves_nothing)
{
	struct rti_member *member;

	pages_start(0, 400);
	pages_look();
	member = pages_member(0);
	member->memory.is_present = false;
	member->memory.look.shared_pages = 50;
	ck_assert_uint_eq(rti_memory_leave(&world.table, member), 0);
}
END_TEST

/* The model takes each inherited page for copied then, and no more. */
START_TEST(read_sum_above_all_that_can_be_copied_raises_the_copies_to_that)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();

	rti_memory_calibrate(&world.table, &world.sums, 4000, &world.copied);
	rti_memory_sum(&world.table, &world.sums);

	ck_assert_uint_eq(world.sums.anon_pages, 3 * 400);
	ck_assert_uint_eq(pages_member(1)->memory.copies, 400);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_limits");
	TCase *tcase = suite_case(suite, "limits");

	tcase_add_checked_fixture(tcase, pages_set_up, pages_tear_down);
	tcase_add_test(tcase, member_without_memory_leaves_nothing);
	tcase_add_test(tcase, read_sum_above_all_that_can_be_copied_raises_the_copies_to_that);
	return suite_run(suite);
}
