/* SPDX-License-Identifier: MIT */
/* The memory model at its ends: a member without memory, a long line of forks, and a read of more
 * than can be. */
#include <stdlib.h>

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

	rti_memory_calibrate(&world.table, &world.sums, 4000);
	rti_memory_sum(&world.table, &world.sums);

	ck_assert_uint_eq(world.sums.anon_pages, 3 * 400);
	ck_assert_uint_eq(pages_member(1)->memory.copies, 400);
}
END_TEST

#define GENERATIONS 70

/* A longer line of forks is taken for several families. E.g.: 69 has one relative, since the first
 * of its family is 5. */
START_TEST(family_reaches_back_64_forks)
{
	struct rti_member_table table;

	ck_assert_int_eq(rti_member_table_init(&table, 0), 0);
	for (int i = 0; i < GENERATIONS; i++) {
		const struct rti_pid_stat stat = { .pid = 100 + i, .ppid = 99 + i };
		const struct rti_memory_look look = { .rss_pages = 700, .is_forked = i > 0 };
		struct rti_member *m;

		ck_assert_int_eq(rti_member_table_add_take(&table, NULL, &stat, NULL), 0);
		m = rti_member_find(&table, 100 + i);
		rti_memory_join(&m->memory, &look, i > 0 ? rti_member_find(&table, 99 + i) : NULL);
	}
	rti_memory_count_relatives(&table);

	ck_assert_uint_eq(rti_memory_anon_share(&table, rti_member_find(&table, 164)), 700 / 65);
	ck_assert_uint_eq(rti_memory_anon_share(&table, rti_member_find(&table, 169)), 700 / 2);
	free(table.members);
	free(table.slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_limits");
	TCase *tcase = suite_case(suite, "limits");

	tcase_add_checked_fixture(tcase, pages_set_up, pages_tear_down);
	tcase_add_test(tcase, member_without_memory_leaves_nothing);
	tcase_add_test(tcase, read_sum_above_all_that_can_be_copied_raises_the_copies_to_that);
	tcase_add_test(tcase, family_reaches_back_64_forks);
	return suite_run(suite);
}
