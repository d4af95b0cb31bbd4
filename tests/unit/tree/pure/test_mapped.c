/* SPDX-License-Identifier: MIT */
/* What the members of a tree map: the programs, what stands in for those that were not read, and
 * how long images are kept. */
#include "mapped_fixture.h"

#include <errno.h>

#define PROGRAMS 500

/* --- Programs. --- */

START_TEST(program_has_one_entry_for_all_its_members)
{
	int shell = enter(SHELL);

	ck_assert_int_eq(enter(SHELL), shell);
	ck_assert_int_ne(enter(COMPILER), shell);
	ck_assert_uint_eq(mapped.count, 2);
}
END_TEST

START_TEST(entry_is_free_once_all_its_members_have_left)
{
	int shell = enter(SHELL), other;

	enter(COMPILER);
	rti_program_enter_again(&mapped, shell);
	rti_program_leave(&mapped, shell, 1);
	other = enter(LINKER);
	ck_assert_int_ne(other, shell);

	rti_program_leave(&mapped, shell, 2);
	ck_assert_int_eq(enter(99), shell);
	ck_assert_int_ne(enter(SHELL), shell);
}
END_TEST

START_TEST(many_programs_that_come_and_go_need_few_entries)
{
	for (uint64_t key = 1; key <= PROGRAMS; key++) {
		int first = enter(key), second = enter(key + 1);

		rti_program_leave(&mapped, first, 1);
		rti_program_leave(&mapped, second, 2);
	}
	ck_assert_uint_eq(mapped.count, 2);
	for (uint64_t key = 1; key <= PROGRAMS; key++)
		enter(key);
	ck_assert_uint_eq(mapped.count, PROGRAMS);
	for (uint64_t key = 1; key <= PROGRAMS; key++)
		enter(key);
	ck_assert_uint_eq(mapped.count, PROGRAMS);
}
END_TEST

START_TEST(program_that_no_member_runs_any_more_is_not_found)
{
	int shell = enter(SHELL);

	ck_assert_int_eq(rti_program_find(&mapped, SHELL), shell);
	ck_assert_int_eq(rti_program_find(&mapped, COMPILER), -1);
	rti_program_leave(&mapped, shell, 1);
	ck_assert_int_eq(rti_program_find(&mapped, SHELL), -1);
}
END_TEST

/* A member of which the program is not known. */
START_TEST(index_of_no_program_is_ignored)
{
	struct rti_mapped_look look = look_of(1, 100, 50);
	struct rti_mapped_sum sum;

	rti_program_enter_again(&mapped, -1);
	rti_program_leave(&mapped, -1, 1);
	rti_mapped_open(&mapped);
	rti_mapped_add(&mapped, -1, &look, false);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_FILE] + sum.pages[RTI_MAPPED_SHMEM], 0);
}
END_TEST

/* --- Without any image. --- */

START_TEST(largest_member_stands_for_its_program)
{
	int shell = enter(SHELL);

	check_files(sum_up(shell, 300, 700, shell, 500), 0, 700, 1500);
	check_files(sum_up(shell, 300, 200, shell, 100), 0, 300, 600);
	rti_mapped_open(&mapped);
	check_files(rti_mapped_close(&mapped), 0, 0, 0);
}
END_TEST

/* Two shells of 700 pages, a compiler of 2000, and libraries of which both map 700. */
START_TEST(pages_that_all_programs_map_count_once)
{
	int shell = enter(SHELL), compiler = enter(COMPILER), linker = enter(LINKER);

	check_files(sum_up(shell, 700, 700, compiler, 2000), 0, 2000, 3400);
	rti_mapped_open(&mapped);
	add(shell, 1, 700, 0);
	add(compiler, 2, 2000, 0);
	add(linker, 3, 1000, 0);
	check_files(rti_mapped_close(&mapped), 0, 700 + 1300 + 300, 3700);
}
END_TEST

/* A program without members in this sum, as when they have no memory any more. */
START_TEST(program_without_pages_counts_for_nothing)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	enter(LINKER);
	check_files(sum_up(shell, 700, 300, compiler, 0), 0, 700, 1000);
}
END_TEST

/* Of two programs, nothing says that the block is one. */
START_TEST(shared_memory_that_was_not_read_adds_up_over_programs)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);
	struct rti_mapped_sum sum;

	rti_mapped_open(&mapped);
	add(shell, 1, 700, 400);
	add(shell, 2, 700, 400);
	add(compiler, 3, 900, 500);
	sum = rti_mapped_close(&mapped);
	check_shmem(sum, 0, 900, 1300);
	check_files(sum, 0, 700, 300 + 300 + 400);
}
END_TEST

START_TEST(huge_pages_that_were_not_read_are_those_of_the_largest_member)
{
	struct rti_mapped_look look = look_of(1, 700, 0);
	int shell = enter(SHELL);
	struct rti_mapped_sum sum;

	look.hugetlb_pages = 512;
	rti_mapped_open(&mapped);
	rti_mapped_add(&mapped, shell, &look, true);
	look.hugetlb_pages = 100;
	rti_mapped_add(&mapped, shell, &look, true);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_HUGETLB], 512);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_HUGETLB], 612);
	ck_assert_uint_eq(sum.low[RTI_MAPPED_HUGETLB], 0);
}
END_TEST

/* --- When to read, and what is kept. --- */

#define SECOND UINT64_C(1000000000)

/* Ask about an image of 3200 pages, which was read at the time 0. */
static bool is_stale(struct rti_image *image, uint64_t shared_pages, uint64_t now_ns,
                     bool must_be_growing)
{
	bool is_growing, is_stale = rti_image_is_stale(image, shared_pages, now_ns, &is_growing);

	ck_assert_int_eq(is_growing, must_be_growing);
	return is_stale;
}

static struct rti_image image_of_3200_pages(void)
{
	return (struct rti_image){ .shared_pages = 3200, .seen_pages = 3200, .is_read = true };
}

START_TEST(image_is_stale_once_a_part_of_32_and_64_pages_more_are_mapped)
{
	struct rti_image image = image_of_3200_pages();

	ck_assert(!is_stale(&image, 3200, SECOND, false));
	ck_assert(!is_stale(&image, 3200 + 100 + 64, SECOND, false));
	ck_assert(is_stale(&image, 3200 + 100 + 64 + 1, SECOND, false));
	ck_assert(!is_stale(&image, 0, SECOND, false)); /* it has released some */
	image.is_read = false;
	ck_assert(is_stale(&image, 0, SECOND, false));
}
END_TEST

/* A program that is starting maps more and more: it is read when that is over. */
START_TEST(image_of_a_process_that_grows_is_stale_once_it_stops_or_has_grown_by_half)
{
	struct rti_image image = image_of_3200_pages();

	ck_assert(!is_stale(&image, 3300, SECOND / 10, false));
	ck_assert(!is_stale(&image, 3400, SECOND / 5, true));
	ck_assert(!is_stale(&image, 3500, SECOND / 4, true));
	ck_assert(is_stale(&image, 3500, SECOND / 3, false));

	ck_assert(!is_stale(&image, 3600, SECOND - 1, true));
	ck_assert(is_stale(&image, 3700, SECOND, false)); /* it has taken long enough */

	image = image_of_3200_pages();
	ck_assert(!is_stale(&image, 3200 + 1600 + 64, 1, true));
	ck_assert(is_stale(&image, 3200 + 1600 + 64 + 1, 1, false));
}
END_TEST

/* E.g.: a build that runs the same compiler again and again. */
START_TEST(image_stays_while_no_member_runs_the_program)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	read_program(compiler, 3, 500, 1500);
	rti_program_leave(&mapped, compiler, 3);
	ck_assert_int_ne(enter(LINKER), compiler);
	ck_assert_int_eq(enter(COMPILER), compiler);
	check_files(sum_up(shell, 0, 0, compiler, 2000), 0, 2000, 2000);
}
END_TEST

/* The one that was not used for longest gives way. */
START_TEST(many_images_without_members_give_way)
{
	int kept = enter(SHELL);

	for (uint64_t key = 1000; key < 3000; key++) {
		int program = enter(key);

		rti_mapped_open(&mapped);
		add(program, 5, 10, 0);
		add(kept, 6, 10, 0);
		rti_mapped_close(&mapped);
		read_program(program, 5, 10, 10);
		rti_program_leave(&mapped, program, 5);
	}
	ck_assert_uint_eq(mapped.count, 512);
	ck_assert_int_eq(rti_program_find(&mapped, SHELL), kept);
	/* The last ones are still known, and the first ones are not. */
	ck_assert(mapped.programs[enter(2999)].image.is_read);
	ck_assert(mapped.programs[enter(2999 - 510)].image.is_read);
	ck_assert(!mapped.programs[enter(1000)].image.is_read);
}
END_TEST

START_TEST(image_that_is_read_anew_replaces_the_last_one)
{
	int shell = enter(SHELL);

	read_program(shell, 1, 300, 400);
	read_program(shell, 2, 100, 50);
	rti_mapped_open(&mapped);
	add(shell, 2, 150, 0);
	check_files(rti_mapped_close(&mapped), 150, 150, 150);
}
END_TEST

START_TEST(range_without_pages_is_left_out)
{
	struct rti_image image = { 0 };

	rti_image_begin(&mapped, &image);
	ck_assert_int_eq(add_range(&image, LIBC, RTI_MAPPED_FILE, 0, 0), 0);
	ck_assert_uint_eq(image.count, 0);
	ck_assert_uint_eq(mapped.range_count, 0);
	rti_image_free(&image);
}
END_TEST

/* Keys of chance, of which many begin at the same slot. */
START_TEST(many_ranges_keep_their_pages)
{
	const uint64_t count = 20000;
	struct rti_mapped_look look = look_of(1, 0, 0);
	struct rti_image image = { 0 };
	uint64_t all = 0;

	for (int round = 0; round < 2; round++) {
		rti_image_begin(&mapped, &image);
		for (uint64_t i = 0; i < count; i++)
			ck_assert_int_eq(add_range(&image, i * 1024 + 1, RTI_MAPPED_FILE, i + 1, 0),
			                 0);
		ck_assert_uint_eq(mapped.range_count, count);
	}
	for (uint64_t i = 0; i < count; i++)
		all += i + 1;
	look.shared_pages = all;
	rti_image_end(&mapped, &image, &look, 0, 0);
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	check_files(rti_mapped_close(&mapped), all, all, all);
	rti_image_free(&image);
}
END_TEST

START_TEST(too_many_ranges_are_refused_until_all_are_forgotten)
{
	struct rti_image image = { 0 };
	uint64_t key = 1;
	int err, shell = enter(SHELL);

	read_program(shell, 1, 300, 400);
	rti_image_begin(&mapped, &image);
	do
		err = add_range(&image, key++, RTI_MAPPED_FILE, 1, 0);
	while (err == 0);
	ck_assert_int_eq(err, -ENOSPC);
	ck_assert_uint_gt(key, 60000);
	rti_image_free(&image);
	rti_mapped_forget(&mapped);
	ck_assert(!mapped.programs[shell].image.is_read);
	ck_assert_uint_eq(mapped.range_count, 0);

	/* The members are as they were. */
	ck_assert_int_eq(rti_program_find(&mapped, SHELL), shell);
	read_program(shell, 1, 300, 400);
	rti_mapped_open(&mapped);
	add(shell, 1, 700, 0);
	check_files(rti_mapped_close(&mapped), 700, 700, 700);
}
END_TEST

/* What no process can have. */
START_TEST(huge_numbers_stay_at_the_largest)
{
	struct rti_mapped_look look = look_of(1, UINT64_MAX / 8, UINT64_MAX / 8);
	struct rti_image image = { 0 };
	struct rti_mapped_sum sum;

	rti_image_begin(&mapped, &image);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
		    add_range(&image, BLOCK, RTI_MAPPED_SHMEM, UINT64_MAX / 4, UINT64_MAX / 4), 0);
	rti_image_end(&mapped, &image, &look, 0, 0);
	rti_mapped_open(&mapped);
	for (int i = 0; i < 4; i++)
		rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_ge(sum.pages[RTI_MAPPED_SHMEM], UINT32_MAX / 2);
	ck_assert_uint_ge(sum.high[RTI_MAPPED_SHMEM], sum.low[RTI_MAPPED_SHMEM]);
	rti_image_free(&image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapped");
	TCase *programs = suite_case(suite, "programs"), *unread = suite_case(suite, "unread"),
	      *kept = suite_case(suite, "kept");

	tcase_add_checked_fixture(programs, mapped_set_up, mapped_tear_down);
	tcase_add_checked_fixture(unread, mapped_set_up, mapped_tear_down);
	tcase_add_checked_fixture(kept, mapped_set_up, mapped_tear_down);
	tcase_add_test(programs, program_has_one_entry_for_all_its_members);
	tcase_add_test(programs, entry_is_free_once_all_its_members_have_left);
	tcase_add_test(programs, many_programs_that_come_and_go_need_few_entries);
	tcase_add_test(programs, program_that_no_member_runs_any_more_is_not_found);
	tcase_add_test(programs, index_of_no_program_is_ignored);
	tcase_add_test(unread, largest_member_stands_for_its_program);
	tcase_add_test(unread, pages_that_all_programs_map_count_once);
	tcase_add_test(unread, program_without_pages_counts_for_nothing);
	tcase_add_test(unread, shared_memory_that_was_not_read_adds_up_over_programs);
	tcase_add_test(unread, huge_pages_that_were_not_read_are_those_of_the_largest_member);
	tcase_add_test(kept, image_is_stale_once_a_part_of_32_and_64_pages_more_are_mapped);
	tcase_add_test(kept,
	               image_of_a_process_that_grows_is_stale_once_it_stops_or_has_grown_by_half);
	tcase_add_test(kept, image_stays_while_no_member_runs_the_program);
	tcase_add_test(kept, many_images_without_members_give_way);
	tcase_add_test(kept, image_that_is_read_anew_replaces_the_last_one);
	tcase_add_test(kept, range_without_pages_is_left_out);
	tcase_add_test(kept, many_ranges_keep_their_pages);
	tcase_add_test(kept, too_many_ranges_are_refused_until_all_are_forgotten);
	tcase_add_test(kept, huge_numbers_stay_at_the_largest);
	return suite_run(suite);
}
