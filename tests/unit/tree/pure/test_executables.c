/* SPDX-License-Identifier: MIT */
/* The programs of a tree: which pages of files count once, and what is learned when PSS is read. */
#include "suite.h"

#include "tree/pure/executables.h"

#define SHELL 11
#define COMPILER 22
#define LINKER 33
#define PROGRAMS 500

static struct rti_executables table;

static void set_up(void)
{
	table = (struct rti_executables){ 0 };
}

static void tear_down(void)
{
	rti_executables_free(&table);
}

static int enter(uint64_t key)
{
	int index = rti_executables_enter(&table, key);

	ck_assert_int_ge(index, 0);
	return index;
}

/* Sum up two members of one program, and one of another. */
static void sum_up(int index, uint64_t first, uint64_t second, int other, uint64_t third)
{
	rti_executables_open(&table);
	rti_executables_add(&table, index, first);
	rti_executables_add(&table, index, second);
	rti_executables_add(&table, other, third);
}

START_TEST(program_has_one_entry_for_all_its_members)
{
	int shell = enter(SHELL);

	ck_assert_int_eq(enter(SHELL), shell);
	ck_assert_int_ne(enter(COMPILER), shell);
	ck_assert_uint_eq(table.count, 2);
}
END_TEST

START_TEST(entry_is_free_once_all_its_members_have_left)
{
	int shell = enter(SHELL), other;

	enter(COMPILER);
	rti_executables_enter_again(&table, shell);
	rti_executables_leave(&table, shell);
	other = enter(LINKER);
	ck_assert_int_ne(other, shell);

	rti_executables_leave(&table, shell);
	ck_assert_int_eq(enter(99), shell);
	ck_assert_int_ne(enter(SHELL), shell);
}
END_TEST

START_TEST(many_programs_that_come_and_go_need_few_entries)
{
	for (uint64_t key = 1; key <= PROGRAMS; key++) {
		int first = enter(key), second = enter(key + 1);

		rti_executables_leave(&table, first);
		rti_executables_leave(&table, second);
	}
	ck_assert_uint_eq(table.count, 2);
	for (uint64_t key = 1; key <= PROGRAMS; key++)
		enter(key);
	ck_assert_uint_eq(table.count, PROGRAMS);
	for (uint64_t key = 1; key <= PROGRAMS; key++)
		enter(key);
	ck_assert_uint_eq(table.count, PROGRAMS);
}
END_TEST

/* A member of which the program is not known. */
START_TEST(index_of_no_program_is_ignored)
{
	rti_executables_enter_again(&table, -1);
	rti_executables_leave(&table, -1);
	rti_executables_open(&table);
	rti_executables_add(&table, -1, 100);
	rti_executables_measure(&table, -1, 100, 50);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 0);
	ck_assert_double_eq(rti_executables_share(&table, -1), 1);
}
END_TEST

START_TEST(largest_member_stands_for_its_program)
{
	int shell = enter(SHELL);

	sum_up(shell, 300, 700, shell, 500);
	ck_assert_uint_eq(rti_executables_pages(&table), 700);

	sum_up(shell, 300, 200, shell, 100);
	ck_assert_uint_eq(rti_executables_pages(&table), 300);

	rti_executables_open(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 0);
}
END_TEST

/* Two shells of 700 pages, a compiler of 2000, and libraries of which both map 700. */
START_TEST(pages_that_all_programs_map_count_once)
{
	int shell = enter(SHELL), compiler = enter(COMPILER), linker = enter(LINKER);

	sum_up(shell, 700, 700, compiler, 2000);
	ck_assert_uint_eq(rti_executables_pages(&table), 2000);
	rti_executables_add(&table, linker, 1000);
	ck_assert_uint_eq(rti_executables_pages(&table), 700 + 1300 + 300);
}
END_TEST

/* A program without members in this sum, as when they have no memory any more. */
START_TEST(program_without_pages_counts_for_nothing)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	enter(LINKER);
	sum_up(shell, 700, 300, compiler, 0);
	ck_assert_uint_eq(rti_executables_pages(&table), 700);
}
END_TEST

START_TEST(share_of_a_member_divides_the_pages_of_its_program)
{
	int shell = enter(SHELL);

	sum_up(shell, 600, 300, shell, 300);
	ck_assert_double_eq(rti_executables_share(&table, shell), 0.5);
	rti_executables_open(&table);
	ck_assert_double_eq(rti_executables_share(&table, shell), 0);
}
END_TEST

/* Libraries that processes outside of the tree map as well: PSS is less than the largest member. */
START_TEST(pages_that_others_share_are_left_out_once_read)
{
	int shell = enter(SHELL);

	sum_up(shell, 600, 600, shell, 0);
	rti_executables_measure(&table, shell, 600, 100);
	rti_executables_measure(&table, shell, 600, 100);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 200);

	sum_up(shell, 900, 600, shell, 0); /* 300 pages more */
	ck_assert_uint_eq(rti_executables_pages(&table), 500);

	sum_up(shell, 300, 300, shell, 0); /* what is counted elsewhere is more than that */
	ck_assert_uint_eq(rti_executables_pages(&table), 0);
}
END_TEST

/* Processes that map different pages of a large file: together more than the largest member. */
START_TEST(pages_that_members_map_apart_are_added_once_read)
{
	int shell = enter(SHELL);

	sum_up(shell, 1000, 1000, shell, 0);
	rti_executables_measure(&table, shell, 1000, 750);
	rti_executables_measure(&table, shell, 1000, 750);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 1500);

	sum_up(shell, 2000, 2000, shell, 0);
	ck_assert_uint_eq(rti_executables_pages(&table), 2500);

	sum_up(shell, 2000, 100, shell, 0); /* no more than all of them */
	ck_assert_uint_eq(rti_executables_pages(&table), 2100);
}
END_TEST

/* What one member has by PSS is taken for the others, too. */
START_TEST(part_of_the_members_read_stands_for_all)
{
	int shell = enter(SHELL);

	sum_up(shell, 600, 600, shell, 600);
	rti_executables_measure(&table, shell, 600, 150);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 450);
}
END_TEST

START_TEST(part_of_the_members_read_later_changes_what_is_known_by_as_much)
{
	int shell = enter(SHELL);

	sum_up(shell, 600, 600, shell, 0);
	rti_executables_measure(&table, shell, 1200, 600);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 600);

	sum_up(shell, 600, 600, shell, 0);
	rti_executables_measure(&table, shell, 600, 100); /* all would have 200 */
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 400);
}
END_TEST

START_TEST(program_of_which_nothing_was_read_is_as_before)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	sum_up(shell, 700, 700, compiler, 2000);
	rti_executables_measure(&table, shell, 1400, 300);
	rti_executables_learn(&table);
	ck_assert_uint_ge(rti_executables_pages(&table), 300);
	ck_assert_uint_le(rti_executables_pages(&table), 2300);
}
END_TEST

START_TEST(learning_without_members_changes_nothing)
{
	int shell = enter(SHELL);

	sum_up(shell, 0, 0, shell, 0);
	rti_executables_measure(&table, shell, 0, 0);
	rti_executables_learn(&table);
	sum_up(shell, 700, 700, shell, 0);
	ck_assert_uint_eq(rti_executables_pages(&table), 700);
}
END_TEST

/* The program of an entry that was free knows nothing of the one before. */
START_TEST(new_program_in_a_free_entry_has_learned_nothing)
{
	int shell = enter(SHELL);

	sum_up(shell, 600, 600, shell, 0);
	rti_executables_measure(&table, shell, 1200, 100);
	rti_executables_learn(&table);
	rti_executables_leave(&table, shell);

	ck_assert_int_eq(enter(COMPILER), shell);
	sum_up(shell, 600, 600, shell, 0);
	ck_assert_uint_eq(rti_executables_pages(&table), 600);
}
END_TEST

START_TEST(program_that_no_member_runs_any_more_is_not_found)
{
	int shell = enter(SHELL);

	ck_assert_int_eq(rti_executables_find(&table, SHELL), shell);
	ck_assert_int_eq(rti_executables_find(&table, COMPILER), -1);
	rti_executables_leave(&table, shell);
	ck_assert_int_eq(rti_executables_find(&table, SHELL), -1);
}
END_TEST

/* E.g.: its members have ended between the read and the sum. */
START_TEST(read_of_a_program_without_pages_teaches_nothing)
{
	int shell = enter(SHELL), compiler = enter(COMPILER);

	sum_up(shell, 100, 100, compiler, 0);
	rti_executables_measure(&table, compiler, 50, 5);
	rti_executables_learn(&table);
	ck_assert_uint_eq(rti_executables_pages(&table), 100);
	sum_up(shell, 100, 100, compiler, 60);
	ck_assert_uint_eq(rti_executables_pages(&table), 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("executables");
	TCase *entries = suite_case(suite, "entries"), *sums = suite_case(suite, "sums"),
	      *learning = suite_case(suite, "learning");

	tcase_add_checked_fixture(entries, set_up, tear_down);
	tcase_add_checked_fixture(sums, set_up, tear_down);
	tcase_add_checked_fixture(learning, set_up, tear_down);
	tcase_add_test(entries, program_has_one_entry_for_all_its_members);
	tcase_add_test(entries, entry_is_free_once_all_its_members_have_left);
	tcase_add_test(entries, many_programs_that_come_and_go_need_few_entries);
	tcase_add_test(entries, index_of_no_program_is_ignored);
	tcase_add_test(sums, largest_member_stands_for_its_program);
	tcase_add_test(sums, pages_that_all_programs_map_count_once);
	tcase_add_test(sums, program_without_pages_counts_for_nothing);
	tcase_add_test(sums, share_of_a_member_divides_the_pages_of_its_program);
	tcase_add_test(learning, pages_that_others_share_are_left_out_once_read);
	tcase_add_test(learning, pages_that_members_map_apart_are_added_once_read);
	tcase_add_test(learning, part_of_the_members_read_stands_for_all);
	tcase_add_test(learning, part_of_the_members_read_later_changes_what_is_known_by_as_much);
	tcase_add_test(learning, program_of_which_nothing_was_read_is_as_before);
	tcase_add_test(learning, learning_without_members_changes_nothing);
	tcase_add_test(learning, new_program_in_a_free_entry_has_learned_nothing);
	tcase_add_test(entries, program_that_no_member_runs_any_more_is_not_found);
	tcase_add_test(entries, read_of_a_program_without_pages_teaches_nothing);
	return suite_run(suite);
}
