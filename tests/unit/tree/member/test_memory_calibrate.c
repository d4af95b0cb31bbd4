/* SPDX-License-Identifier: MIT */
/* The memory model once the anonymous pages of all members were read: how many copies it takes back
 * or adds, and which part of later faults it takes for copies. */
#include "simulated_pages.h"
#include "suite.h"

static void calibrate(uint64_t pages)
{
	rti_memory_calibrate(&world.table, &world.sums, pages, &world.copied);
	rti_memory_sum(&world.table, &world.sums);
}

/* Both sides wrote to the same pages, so the model counts too many copies. */
START_TEST(read_sum_below_the_model_lowers_the_copies)
{
	pages_start(0, 400);
	pages_fork(0, 1);
	pages_look();
	pages_write(0, 10, 100);
	pages_write(1, 10, 100);
	pages_look();
	ck_assert_uint_gt(world.sums.anon_pages, 500);
	calibrate(500);
	ck_assert_uint_le(world.sums.anon_pages, 501);
	ck_assert_uint_ge(world.sums.anon_pages, 499);
	pages_write(1, 200, 50);
	pages_look();
	ck_assert_uint_le(world.sums.anon_pages, 551);
	ck_assert_uint_ge(world.sums.anon_pages, 549);
	pages_check_bounds();
}
END_TEST

/* The parent wrote to pages before the child was found. */
START_TEST(read_sum_above_the_model_raises_the_copies)
{
	pages_start(0, 400);
	pages_look();
	pages_fork(0, 1);
	pages_write(0, 0, 100);
	pages_look();
	calibrate(500);
	ck_assert_uint_le(world.sums.anon_pages, 501);
	ck_assert_uint_ge(world.sums.anon_pages, 499);
	pages_write(1, 200, 50);
	pages_look();
	ck_assert_uint_le(world.sums.anon_pages, 551);
	ck_assert_uint_ge(world.sums.anon_pages, 549);
}
END_TEST

START_TEST(read_sum_of_processes_that_share_nothing_changes_nothing)
{
	pages_start(0, 400);
	pages_start(1, 100);
	pages_look();
	calibrate(450);
	ck_assert_uint_eq(world.sums.anon_pages, 500);
	calibrate(600);
	ck_assert_uint_eq(world.sums.anon_pages, 500);
}
END_TEST

/* --- Which part of the faults copied pages. --- */

/* Map so many pages, write to them, and unmap them, as malloc(3) and free(3) of large blocks do. */
static void map_and_unmap(int i, size_t count)
{
	pages_grow(i, count);
	world.p[i].count -= count;
}

static void start_pool(void)
{
	pages_start(0, 1000);
	pages_fork(0, 1);
	pages_fork(0, 2);
	pages_look();
}

/* Their faults look like copies, up to all that they have inherited. */
START_TEST(workers_that_map_and_unmap_all_the_time_copy_nothing_once_read)
{
	start_pool();
	for (int i = 0; i < 10; i++) {
		map_and_unmap(1, 50);
		map_and_unmap(2, 50);
		pages_look();
	}
	ck_assert_uint_eq(pages_count(), 1000);
	ck_assert_uint_eq(world.sums.copied_pages, 1000);
	ck_assert_uint_eq(world.sums.anon_pages, 2000);
	pages_check_bounds();

	calibrate(pages_count());
	ck_assert_double_eq(world.copied, 0);
	ck_assert_uint_eq(world.sums.copied_pages, 0);
	for (int i = 0; i < 100; i++) {
		map_and_unmap(1, 50);
		map_and_unmap(2, 50);
		pages_look();
		ck_assert_uint_eq(world.sums.anon_pages, 1000);
		/* They might have been copies, all the same. */
		pages_check_bounds();
	}
	ck_assert_uint_ge(world.sums.anon_pages_max, 3000);
}
END_TEST

/* Half of the faults were copies, so half of those that follow are taken for that. */
START_TEST(part_of_the_faults_that_copied_holds_until_the_next_read)
{
	start_pool();
	pages_write(1, 0, 200);
	map_and_unmap(1, 200);
	pages_look();
	ck_assert_uint_eq(world.sums.copied_pages, 400);
	calibrate(pages_count());
	ck_assert_double_eq_tol(world.copied, 0.5, 0.01);
	ck_assert_uint_eq(world.sums.copied_pages, 200);

	map_and_unmap(2, 100);
	pages_look();
	ck_assert_uint_eq(world.sums.copied_pages, 250);
	calibrate(pages_count()); /* 100 faults say too little */
	ck_assert_double_eq_tol(world.copied, 0.5, 0.01);
	ck_assert_uint_eq(world.sums.copied_pages, 200);

	/* From now on they copy. */
	pages_write(2, 0, 400);
	pages_look();
	ck_assert_uint_eq(world.sums.copied_pages, 400);
	calibrate(pages_count());
	ck_assert_double_eq_tol(world.copied, 1, 0.01);
	ck_assert_uint_eq(world.sums.anon_pages, pages_count());
	pages_write(2, 400, 300);
	pages_look();
	ck_assert_uint_eq(world.sums.anon_pages, pages_count());
	pages_check_bounds();
}
END_TEST

/* The part is that of the faults since the last read alone. */
START_TEST(copies_before_the_last_read_say_nothing_of_the_faults_since)
{
	start_pool();
	pages_write(1, 0, 600);
	pages_look();
	calibrate(pages_count());
	ck_assert_double_eq_tol(world.copied, 1, 0.01);

	map_and_unmap(2, 300);
	pages_look();
	calibrate(pages_count());
	ck_assert_double_eq_tol(world.copied, 0, 0.01);
	ck_assert_uint_eq(world.sums.anon_pages, pages_count());
}
END_TEST

/* 255 faults are no evidence, 256 are. */
START_TEST(few_faults_change_nothing)
{
	start_pool();
	map_and_unmap(1, 255);
	pages_look();
	calibrate(pages_count());
	ck_assert_double_eq(world.copied, 1);
	map_and_unmap(1, 256);
	pages_look();
	calibrate(pages_count());
	ck_assert_double_eq(world.copied, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_calibrate");
	TCase *calibration = suite_case(suite, "calibration");

	tcase_add_checked_fixture(calibration, pages_set_up, pages_tear_down);
	tcase_add_test(calibration, read_sum_below_the_model_lowers_the_copies);
	tcase_add_test(calibration, read_sum_above_the_model_raises_the_copies);
	tcase_add_test(calibration, read_sum_of_processes_that_share_nothing_changes_nothing);
	tcase_add_test(calibration, workers_that_map_and_unmap_all_the_time_copy_nothing_once_read);
	tcase_add_test(calibration, part_of_the_faults_that_copied_holds_until_the_next_read);
	tcase_add_test(calibration, copies_before_the_last_read_say_nothing_of_the_faults_since);
	tcase_add_test(calibration, few_faults_change_nothing);
	return suite_run(suite);
}
