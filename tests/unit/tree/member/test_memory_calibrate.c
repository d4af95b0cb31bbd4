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

/* --- If only one can be read. --- */

static bool has_page(const struct pages_process *p, uint32_t page)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->pages[i] == page)
			return true;
	return false;
}

static uint64_t pss_of(int i)
{
	double pss = 0;

	for (size_t page = 0; page < world.p[i].count; page++) {
		int sharers = 0;

		for (int other = 0; other < PAGES_PROCESSES; other++)
			sharers += world.p[other].is_alive &&
			           has_page(&world.p[other], world.p[i].pages[page]);
		pss += 1.0 / sharers;
	}
	return (uint64_t)(pss + 0.5);
}

static int suspect(void)
{
	const struct rti_member *m = rti_memory_find_suspect(&world.table, &world.sums);

	return m ? (int)m->pid - FIRST_PID : -1;
}

static void calibrate_by(int i)
{
	const struct rti_member *m = rti_member_find(&world.table, FIRST_PID + i);

	rti_memory_calibrate_by(&world.table, &m->memory, world.p[i].count, pss_of(i),
	                        &world.copied);
	rti_memory_sum(&world.table, &world.sums);
}

START_TEST(one_worker_that_has_copied_nothing_stands_for_all)
{
	start_pool();
	ck_assert_int_eq(suspect(), -1);
	for (int i = 0; i < 10; i++) {
		map_and_unmap(1, 50);
		map_and_unmap(2, 60);
		pages_look();
	}
	ck_assert_uint_eq(world.sums.anon_pages, 1000 + 500 + 600);
	ck_assert_int_eq(suspect(), 2);
	calibrate_by(2);
	ck_assert_uint_eq(world.sums.anon_pages, 1000);
	ck_assert_double_eq(world.copied, 0);
	for (int i = 0; i < 10; i++) {
		map_and_unmap(1, 50);
		pages_look();
		ck_assert_uint_eq(world.sums.anon_pages, 1000);
		ck_assert_int_eq(suspect(), -1);
		pages_check_bounds();
	}
}
END_TEST

START_TEST(one_worker_that_has_copied_leaves_the_copies_of_all)
{
	start_pool();
	pages_write(1, 0, 400);
	pages_write(2, 300, 500);
	pages_look();
	ck_assert_uint_eq(world.sums.anon_pages, pages_count());
	calibrate_by(2);
	ck_assert_double_eq(world.copied, 1);
	ck_assert_uint_eq(world.sums.anon_pages, pages_count());
}
END_TEST

/* It has mapped 100 pages of its own besides, which are no copies. */
START_TEST(part_that_one_worker_has_copied_holds_for_all)
{
	start_pool();
	pages_grow(1, 100);
	pages_look();
	pages_write(1, 0, 300);
	map_and_unmap(1, 300);
	pages_write(2, 0, 200);
	map_and_unmap(2, 200);
	pages_look();
	ck_assert_uint_eq(world.sums.copied_pages, 1000);
	calibrate_by(1);
	ck_assert_double_eq_tol(world.copied, 0.5, 0.1);
	ck_assert_uint_ge(world.sums.copied_pages, 490);
	ck_assert_uint_le(world.sums.copied_pages, 600);
}
END_TEST

START_TEST(few_copies_make_no_member_suspect)
{
	start_pool();
	map_and_unmap(1, 255); /* few faults say little */
	pages_look();
	ck_assert_int_eq(suspect(), -1);
	map_and_unmap(1, 1);
	pages_look();
	ck_assert_int_eq(suspect(), 1);
	pages_end(0);
	pages_end(1);
	pages_end(2);
	pages_start(3, 3000);
	pages_fork(3, 4);
	pages_start(5, 3900);
	pages_look();
	map_and_unmap(4, 460);
	pages_look();
	ck_assert_int_eq(suspect(), -1); /* a 16th of all */
	map_and_unmap(4, 1);
	pages_look();
	ck_assert_int_eq(suspect(), 4);
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
	tcase_add_test(calibration, one_worker_that_has_copied_nothing_stands_for_all);
	tcase_add_test(calibration, one_worker_that_has_copied_leaves_the_copies_of_all);
	tcase_add_test(calibration, part_that_one_worker_has_copied_holds_for_all);
	tcase_add_test(calibration, few_copies_make_no_member_suspect);
	return suite_run(suite);
}
