/* SPDX-License-Identifier: MIT */
/* What the members of a tree map, each page once: by images of programs and of members. */
#include "mapped_fixture.h"

/* The library once, and what each program has beside it. */
START_TEST(range_that_several_programs_map_counts_by_the_one_that_has_most_of_it)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	read_program(shell, 1, 300, 400);
	read_program(compiler, 3, 500, 1500);
	/* One shell is read for both. Of the other nothing is known but its size. */
	check_files(sum_up(shell, 700, 700, compiler, 2000), 500 + 400 + 1500, 500 + 400 + 1500,
	            700 + 700 + 2000);
}
END_TEST

/* As an image that all members have read: the bounds are one figure. */
START_TEST(program_of_one_member_that_was_read_is_exact)
{
	int shell = enter(SHELL);

	read_program(shell, 1, 300, 400);
	rti_mapped_open(&mapped);
	add(shell, 1, 700, 0);
	check_files(rti_mapped_close(&mapped), 700, 700, 700);
}
END_TEST

/* What a program without an image has in common with others is the smallest of all. */
START_TEST(program_that_was_not_read_counts_beside_those_that_were)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	read_program(shell, 1, 300, 400);
	check_files(sum_up(shell, 700, 700, compiler, 2000), 700, 700 + 2000 - 700,
	            700 + 700 + 2000);
}
END_TEST

/* By as much in each of its ranges. The library has grown by a seventh in one of the programs. */
START_TEST(image_grows_with_the_member_that_maps_most)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	read_program(shell, 1, 300, 400);
	read_program(compiler, 3, 300, 600);
	check_files(sum_up(shell, 700, 800, compiler, 950), 1300, 343 + 457 + 633, 700 + 800 + 950);
}
END_TEST

/* Of each of its ranges it has less. How much, it does not show. */
START_TEST(image_shrinks_with_its_program)
{
	int shell = enter(SHELL);

	read_program(shell, 1, 300, 500);
	rti_mapped_open(&mapped);
	add(shell, 1, 400, 0);
	check_files(rti_mapped_close(&mapped), 400, 400, 400);
}
END_TEST

/* The process that was read has ended: another may map less of each. */
START_TEST(image_of_a_process_that_has_ended_is_in_no_lower_bound)
{
	int shell = enter(SHELL);

	enter(SHELL);
	read_program(shell, 1, 300, 500);
	rti_program_leave(&mapped, shell, 7); /* not the one that was read */
	rti_mapped_open(&mapped);
	add(shell, 1, 800, 0);
	check_files(rti_mapped_close(&mapped), 800, 800, 800);
	enter(SHELL);
	rti_program_leave(&mapped, shell, 1);
	rti_mapped_open(&mapped);
	add(shell, 2, 800, 0);
	check_files(rti_mapped_close(&mapped), 0, 800, 800);
}
END_TEST

/* It maps more by now, and another process that maps most has been read for nothing. */
START_TEST(what_the_process_read_has_released_is_in_no_lower_bound)
{
	int shell = enter(SHELL);

	read_program(shell, 1, 300, 500);
	rti_mapped_open(&mapped);
	add(shell, 1, 650, 0);
	add(shell, 2, 900, 0);
	check_files(rti_mapped_close(&mapped), 650, 338 + 563, 650 + 900);
}
END_TEST

/* A ring that is mapped four times: each page counts once, RSS has it as often. */
START_TEST(block_that_one_process_maps_four_times_counts_once)
{
	const struct range ranges[] = {
		{ BLOCK, RTI_MAPPED_SHMEM, 1000, 250 }, { LIBC, RTI_MAPPED_FILE, 200, 100 },
		{ BLOCK, RTI_MAPPED_SHMEM, 1000, 250 }, { BLOCK, RTI_MAPPED_SHMEM, 900, 225 },
		{ BLOCK, RTI_MAPPED_SHMEM, 1000, 250 }, { 0 },
	};
	struct rti_mapped_look look = look_of(1, 4100, 3900);
	struct rti_image image = { 0 };
	struct rti_mapped_sum sum;

	rti_mapped_open(&mapped);
	rti_mapped_add(&mapped, enter(SHELL), &look, false);
	check_shmem(rti_mapped_close(&mapped), 0, 3900, 3900);

	read_image(&image, &look, ranges);
	ck_assert_uint_eq(image.pages[RTI_MAPPED_SHMEM], 1000);
	ck_assert_uint_eq(image.pages[RTI_MAPPED_FILE], 200);
	ck_assert_uint_eq(image.unnamed_pages, 0);
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	check_shmem(sum, 1000, 1000, 1000);
	check_files(sum, 200, 200, 200);
	rti_image_free(&image);
}
END_TEST

/* Blocks of two members: one that both map, and one of each. */
START_TEST(shared_memory_of_several_members_adds_up_by_its_ranges)
{
	const struct range first[] = { { BLOCK, RTI_MAPPED_SHMEM, 1000, 0 },
		                       { BLOCK + 1, RTI_MAPPED_SHMEM, 70, 0 },
		                       { 0 } },
			   second[] = { { BLOCK, RTI_MAPPED_SHMEM, 900, 0 },
		                        { BLOCK + 2, RTI_MAPPED_SHMEM, 500, 0 },
		                        { 0 } };
	struct rti_mapped_look looks[] = { look_of(1, 1070, 1070), look_of(2, 1400, 1400) };
	struct rti_image images[2] = { 0 };

	read_image(&images[0], &looks[0], first);
	read_image(&images[1], &looks[1], second);
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &images[0], &looks[0]);
	rti_mapped_add_image(&mapped, -1, &images[1], &looks[1]);
	check_shmem(rti_mapped_close(&mapped), 1570, 1570, 2470);
	rti_image_free(&images[0]);
	rti_image_free(&images[1]);
}
END_TEST

/* Each maps another part of a large file. PSS shows that they have more than the one that has
 * most. */
START_TEST(parts_of_a_file_that_members_map_apart_add_up_by_pss)
{
	const struct range ranges[] = { { DATA, RTI_MAPPED_FILE, 10000, 8000 }, { 0 } };
	struct rti_image images[3] = { 0 };
	struct rti_mapped_sum sum;

	rti_mapped_open(&mapped);
	for (int i = 0; i < 3; i++) {
		struct rti_mapped_look look = look_of(i + 1, 10000, 0);

		read_image(&images[i], &look, ranges);
	}
	rti_mapped_open(&mapped);
	for (int i = 0; i < 3; i++) {
		struct rti_mapped_look look = look_of(i + 1, 10000, 0);

		rti_mapped_add_image(&mapped, -1, &images[i], &look);
	}
	sum = rti_mapped_close(&mapped);
	/* Others may have mapped a page between two reads: it is no bound. */
	check_files(sum, 10000, 24000, 30000);
	for (int i = 0; i < 3; i++)
		rti_image_free(&images[i]);
}
END_TEST

/* Members were read one after the other, as they came: each shared its 1000 pages with all that
 * were there by then. E.g.: the first one had all of them by PSS, and the second one half. */
static const struct {
	uint64_t size, pss[3];
	uint64_t expected;
} joined[] = {
	{ 9000, { 1000, 500, 333 }, 1000 },
	/* the second one was not shared with, and neither is the third one */
	{ 9000, { 1000, 1000, 1000 }, 2333 },
	{ 2000, { 1000, 1000, 1000 }, 2000 },
	/* half of it is each one's own */
	{ 9000, { 1000, 750, 667 }, 1667 },
};

START_TEST(pss_of_members_that_were_read_as_they_came_goes_by_all_that_are_there)
{
	struct rti_mapped_look look = look_of(1, 1000, 0);
	struct rti_image images[3] = { 0 };
	int shell = -1;

	for (uint32_t i = 0; i < 3; i++) {
		struct rti_image_part part = { .pages = 1000,
			                       .pss_pages = (float)joined[_i].pss[i],
			                       .size_pages = (uint32_t)joined[_i].size };

		shell = enter(SHELL);
		rti_image_begin(&mapped, &images[i]);
		rti_image_add(&mapped, &images[i], DATA, RTI_MAPPED_FILE, &part);
		rti_image_end(&mapped, &images[i], &look, 0, 0);
		images[i].sharers = i + 1;
	}
	rti_mapped_open(&mapped);
	for (int i = 0; i < 3; i++)
		rti_mapped_add_image(&mapped, shell, &images[i], &look);
	check_files(rti_mapped_close(&mapped), 1000, joined[_i].expected, 3000);
	for (int i = 0; i < 3; i++)
		rti_image_free(&images[i]);
}
END_TEST

/* The second one has touched since what the first one had for itself, or has not. */
START_TEST(pss_that_was_read_at_two_times_adds_up_by_half)
{
	static const struct {
		float pss;
		uint64_t expected;
	} cases[] = { { 500, 1250 }, { 1000, 2000 }, { 750, 1625 } };
	struct rti_mapped_look look = look_of(1, 1000, 0);
	struct rti_image images[2] = { 0 };
	int shell = enter(SHELL);

	enter(SHELL);
	for (int i = 0; i < 2; i++) {
		struct rti_image_part part = { .pages = 1000,
			                       .pss_pages = i ? cases[_i].pss : 1000,
			                       .size_pages = 9000 };

		rti_image_begin(&mapped, &images[i]);
		rti_image_add(&mapped, &images[i], DATA, RTI_MAPPED_FILE, &part);
		rti_image_end(&mapped, &images[i], &look, 0, (uint64_t)i);
		images[i].sharers = 2;
	}
	rti_mapped_open(&mapped);
	for (int i = 0; i < 2; i++)
		rti_mapped_add_image(&mapped, shell, &images[i], &look);
	check_files(rti_mapped_close(&mapped), 1000, cases[_i].expected, 2000);
	for (int i = 0; i < 2; i++)
		rti_image_free(&images[i]);
}
END_TEST

/* PSS does not show whether it is its own. */
START_TEST(pss_of_what_a_member_has_mapped_since_it_was_read_does_not_add_up)
{
	const struct range ranges[] = { { DATA, RTI_MAPPED_FILE, 1000, 1000 }, { 0 } };
	struct rti_mapped_look look = look_of(1, 1000, 0), now = look_of(1, 1500, 0);
	struct rti_image images[2] = { 0 };

	rti_mapped_open(&mapped);
	for (int i = 0; i < 2; i++)
		read_image(&images[i], &look, ranges);
	rti_mapped_open(&mapped);
	for (int i = 0; i < 2; i++)
		rti_mapped_add_image(&mapped, -1, &images[i], &now);
	check_files(rti_mapped_close(&mapped), 1000, 2000, 3000);
	for (int i = 0; i < 2; i++)
		rti_image_free(&images[i]);
}
END_TEST

/* Of eight processes that map 1000 pages of a file, one was read, when so many were there. */
static const struct {
	uint32_t then;
	uint64_t pss;
	uint64_t expected;
} alike[] = {
	/* each maps other ones; all map the same; some of them do; so do strangers */
	{ 8, 1000, 8000 },
	{ 8, 125, 1000 },
	{ 8, 250, 2000 },
	{ 8, 60, 1000 },
	/* four more came */
	{ 4, 1000, 8000 },
	{ 4, 250, 1000 },
	/* eight have gone */
	{ 16, 1000, 8000 },
	{ 16, 1000 / 16, 1000 },
	/* it was alone, so nothing says what others share */
	{ 1, 1000, 1000 },
};

START_TEST(image_of_a_program_stands_for_members_that_map_as_much)
{
	const struct range ranges[] = { { DATA, RTI_MAPPED_FILE, 1000, alike[_i].pss }, { 0 } };
	struct rti_mapped_look look = look_of(1, 1000, 0);
	int shell = enter(SHELL);
	struct rti_mapped_sum sum;

	read_image(&mapped.programs[shell].image, &look, ranges);
	mapped.programs[shell].image.sharers = alike[_i].then;
	rti_mapped_open(&mapped);
	for (int32_t pid = 1; pid <= 8; pid++)
		add(shell, pid, 1000, 0);
	add(shell, 9, 900, 0); /* it maps less than the others */
	ck_assert_uint_eq(mapped.programs[shell].alike, 8);
	ck_assert_int_eq(rti_program_has_multiplied(&mapped.programs[shell]), alike[_i].then <= 4);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_FILE], alike[_i].expected);
	ck_assert_uint_eq(sum.low[RTI_MAPPED_FILE], 1000);
}
END_TEST

/* Whichever is looked at first. */
START_TEST(members_that_map_about_as_much_as_the_largest_are_alike)
{
	static const uint64_t orders[][4] = { { 1000, 2000, 1950, 1900 },
		                              { 2000, 1950, 1900, 1000 },
		                              { 1900, 1000, 1950, 2000 } };
	int shell = enter(SHELL);

	rti_mapped_open(&mapped);
	for (int32_t i = 0; i < 4; i++)
		add(shell, i + 1, orders[_i][i], 0);
	ck_assert_uint_eq(mapped.programs[shell].alike, 3);
	ck_assert(!rti_program_has_multiplied(&mapped.programs[shell])); /* it was not read */
}
END_TEST

/* Each was read when the other was not there, so PSS says nothing of both. */
START_TEST(images_of_programs_do_not_add_up_by_pss)
{
	const struct range ranges[] = { { DATA, RTI_MAPPED_FILE, 1000, 900 }, { 0 } };
	int shell = enter(SHELL), compiler = enter(COMPILER);
	struct rti_mapped_look look = look_of(1, 1000, 0);

	read_image(&mapped.programs[shell].image, &look, ranges);
	look.pid = 2;
	read_image(&mapped.programs[compiler].image, &look, ranges);
	rti_mapped_open(&mapped);
	add(shell, 1, 1000, 0);
	add(compiler, 2, 1000, 0);
	check_files(rti_mapped_close(&mapped), 1000, 1000, 2000);
}
END_TEST

START_TEST(member_with_an_image_of_its_own_shares_ranges_with_its_program)
{
	const struct range ranges[] = { { LIBC, RTI_MAPPED_FILE, 250, 0 },
		                        { BLOCK, RTI_MAPPED_SHMEM, 5000, 0 },
		                        { 0 } };
	struct rti_mapped_look look = look_of(2, 5250, 5000);
	struct rti_image image = { 0 };
	int shell = enter(SHELL);
	struct rti_mapped_sum sum;

	read_program(shell, 1, 300, 400);
	read_image(&image, &look, ranges);
	rti_mapped_open(&mapped);
	add(shell, 1, 700, 0);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	check_files(sum, 700, 700, 700 + 250);
	check_shmem(sum, 5000, 5000, 5000);
	rti_image_free(&image);
}
END_TEST

/* Shared memory in a file of another tmpfs, e.g. /run: its name does not say so, status does. */
START_TEST(shared_memory_without_a_known_name_counts_as_that)
{
	const struct range ranges[] = { { LIBC, RTI_MAPPED_FILE, 200, 0 },
		                        { BLOCK, RTI_MAPPED_FILE, 3000, 0 },
		                        { DATA, RTI_MAPPED_SHMEM, 50, 0 },
		                        { 0 } };
	struct rti_mapped_look look = look_of(1, 3250, 3050);
	struct rti_image image = { 0 };
	struct rti_mapped_sum sum;

	read_image(&image, &look, ranges);
	ck_assert_uint_eq(image.unnamed_pages, 3000);
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_SHMEM], 3050);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_FILE], 200);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_SHMEM], 3050);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_FILE], 200);
	/* Which of its ranges it is does not show. */
	ck_assert_uint_eq(sum.low[RTI_MAPPED_SHMEM], 50);
	rti_image_free(&image);
}
END_TEST

/* Which of its ranges have grown, it does not show. The bounds go by status. */
START_TEST(image_grows_alike_in_files_and_shared_memory)
{
	const struct range ranges[] = { { LIBC, RTI_MAPPED_FILE, 200, 0 },
		                        { BLOCK, RTI_MAPPED_SHMEM, 1000, 0 },
		                        { 0 } };
	struct rti_mapped_look look = look_of(1, 1200, 1000);
	struct rti_image image = { 0 };
	struct rti_mapped_sum sum;

	read_image(&image, &look, ranges);
	look = look_of(1, 1500, 1200);
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	check_shmem(sum, 1000, 1250, 1200);
	check_files(sum, 200, 250, 500);
	rti_image_free(&image);
}
END_TEST

/* Huge pages are in no RSS, so that of a process that maps less of files says nothing of them. */
START_TEST(huge_pages_of_an_image_stay_as_they_were_read)
{
	const struct range ranges[] = { { LIBC, RTI_MAPPED_FILE, 200, 0 },
		                        { BLOCK, RTI_MAPPED_HUGETLB, 512, 0 },
		                        { BLOCK, RTI_MAPPED_HUGETLB, 512, 0 },
		                        { 0 } };
	struct rti_mapped_look look = look_of(1, 200, 0);
	struct rti_image image = { 0 };
	struct rti_mapped_sum sum;

	read_image(&image, &look, ranges);
	look.shared_pages = 100;
	rti_mapped_open(&mapped);
	rti_mapped_add_image(&mapped, -1, &image, &look);
	sum = rti_mapped_close(&mapped);
	ck_assert_uint_eq(sum.pages[RTI_MAPPED_HUGETLB], 512);
	ck_assert_uint_eq(sum.low[RTI_MAPPED_HUGETLB], 512);
	ck_assert_uint_eq(sum.high[RTI_MAPPED_HUGETLB], 512);
	check_files(sum, 100, 100, 100);
	rti_image_free(&image);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mapped_images");
	TCase *images = suite_case(suite, "images");

	tcase_add_checked_fixture(images, mapped_set_up, mapped_tear_down);
	tcase_add_test(images,
	               range_that_several_programs_map_counts_by_the_one_that_has_most_of_it);
	tcase_add_test(images, program_of_one_member_that_was_read_is_exact);
	tcase_add_test(images, program_that_was_not_read_counts_beside_those_that_were);
	tcase_add_test(images, image_grows_with_the_member_that_maps_most);
	tcase_add_test(images, image_shrinks_with_its_program);
	tcase_add_test(images, image_of_a_process_that_has_ended_is_in_no_lower_bound);
	tcase_add_test(images, what_the_process_read_has_released_is_in_no_lower_bound);
	tcase_add_test(images, block_that_one_process_maps_four_times_counts_once);
	tcase_add_test(images, shared_memory_of_several_members_adds_up_by_its_ranges);
	tcase_add_test(images, parts_of_a_file_that_members_map_apart_add_up_by_pss);
	tcase_add_loop_test(images,
	                    pss_of_members_that_were_read_as_they_came_goes_by_all_that_are_there,
	                    0, sizeof(joined) / sizeof(joined[0]));
	tcase_add_loop_test(images, pss_that_was_read_at_two_times_adds_up_by_half, 0, 3);
	tcase_add_test(images, pss_of_what_a_member_has_mapped_since_it_was_read_does_not_add_up);
	tcase_add_loop_test(images, image_of_a_program_stands_for_members_that_map_as_much, 0,
	                    sizeof(alike) / sizeof(alike[0]));
	tcase_add_loop_test(images, members_that_map_about_as_much_as_the_largest_are_alike, 0, 3);
	tcase_add_test(images, images_of_programs_do_not_add_up_by_pss);
	tcase_add_test(images, member_with_an_image_of_its_own_shares_ranges_with_its_program);
	tcase_add_test(images, shared_memory_without_a_known_name_counts_as_that);
	tcase_add_test(images, image_grows_alike_in_files_and_shared_memory);
	tcase_add_test(images, huge_pages_of_an_image_stay_as_they_were_read);
	return suite_run(suite);
}
