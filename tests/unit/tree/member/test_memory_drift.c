/* SPDX-License-Identifier: MIT */
/* The memory model: by how many pages the sharing of a member has changed since its last look. */
#include "simulated_pages.h"
#include "suite.h"

/* Process 0 of 400 pages, and 50 of files. It has forked process 1. */
static void start_two(void)
{
	pages_start(0, 400);
	world.p[0].shared_pages = 50;
	pages_look();
	pages_fork(0, 1);
	pages_look();
}

/* Returns what has moved since the last look. It is the same each time, until the member is looked
 * at, which moves it by as much. */
static uint64_t look_and_get_moved(int i)
{
	const struct rti_memory_look now = pages_look_at(i);
	struct rti_memory_part *memory = &pages_member(i)->memory;
	uint64_t moved = rti_memory_moved_pages(memory, &now);

	ck_assert_uint_eq(rti_memory_moved_pages(memory, &now), moved);
	ck_assert_uint_eq(rti_memory_update(memory, &now, 1), moved);
	ck_assert_uint_eq(rti_memory_moved_pages(memory, &now), 0);
	return moved;
}

START_TEST(growth_is_no_movement)
{
	start_two();
	ck_assert_uint_eq(look_and_get_moved(_i), 0);
	pages_grow(_i, 120);
	ck_assert_uint_eq(look_and_get_moved(_i), 0);
}
END_TEST

START_TEST(release_is_movement)
{
	start_two();
	pages_release(_i, 70);
	ck_assert_uint_eq(look_and_get_moved(_i), 70);
}
END_TEST

START_TEST(copies_are_movement)
{
	start_two();
	pages_write(_i, 100, 30);
	ck_assert_uint_eq(look_and_get_moved(_i), 30);
}
END_TEST

START_TEST(copies_beside_growth_are_movement)
{
	start_two();
	pages_write(_i, 100, 30);
	pages_grow(_i, 200);
	ck_assert_uint_eq(look_and_get_moved(_i), 30);
}
END_TEST

/* What is mapped has images of its own. */
START_TEST(change_of_shared_pages_is_no_movement)
{
	start_two();
	world.p[_i].shared_pages += 9;
	ck_assert_uint_eq(look_and_get_moved(_i), 0);
	world.p[_i].shared_pages -= 25;
	ck_assert_uint_eq(look_and_get_moved(_i), 0);
}
END_TEST

/* One fault maps 16 pages of a file. */
START_TEST(faults_in_files_are_no_copies)
{
	start_two();
	world.p[_i].shared_pages += 800;
	world.p[_i].faults += 800 / 16;
	ck_assert_uint_eq(look_and_get_moved(_i), 0);
}
END_TEST

START_TEST(movements_add_up)
{
	start_two();
	pages_write(_i, 300, 10);
	pages_release(_i, 20);
	world.p[_i].shared_pages += 40;
	world.p[_i].faults += 2; /* one maps 16 pages and more */
	ck_assert_uint_eq(look_and_get_moved(_i), 10 + 20);
}
END_TEST

START_TEST(member_without_relatives_moves_nothing)
{
	pages_start(0, 400);
	world.p[0].shared_pages = 50;
	pages_look();
	pages_write(0, 0, 100);
	ck_assert_uint_eq(look_and_get_moved(0), 0);
	pages_release(0, 60);
	ck_assert_uint_eq(look_and_get_moved(0), 0);
	pages_grow(0, 80);
	ck_assert_uint_eq(look_and_get_moved(0), 0);
	world.p[0].shared_pages += 11;
	pages_release(0, 60);
	ck_assert_uint_eq(look_and_get_moved(0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_drift");
	TCase *moved = suite_case(suite, "moved");

	tcase_add_checked_fixture(moved, pages_set_up, pages_tear_down);
	/* Of the parent, and of the child. */
	tcase_add_loop_test(moved, growth_is_no_movement, 0, 2);
	tcase_add_loop_test(moved, release_is_movement, 0, 2);
	tcase_add_loop_test(moved, copies_are_movement, 0, 2);
	tcase_add_loop_test(moved, copies_beside_growth_are_movement, 0, 2);
	tcase_add_loop_test(moved, change_of_shared_pages_is_no_movement, 0, 2);
	tcase_add_loop_test(moved, faults_in_files_are_no_copies, 0, 2);
	tcase_add_loop_test(moved, movements_add_up, 0, 2);
	tcase_add_test(moved, member_without_relatives_moves_nothing);
	return suite_run(suite);
}
