/* SPDX-License-Identifier: MIT */
/* Which error stands for a figure that is missing, and of which member. */
#include "tree/state/obstacles.h"

#include <errno.h>

#include "suite.h"

#define MEMBERS 3

static struct rti_member members[MEMBERS];
static struct rti_tree tree;

static void set_up(void)
{
	for (int i = 0; i < MEMBERS; i++)
		members[i] =
		    (struct rti_member){ .pid = 100 + i, .memory = { .is_present = true } };
	tree = (struct rti_tree){ .table = { .members = members, .count = MEMBERS },
		                  .want = RT_HAS_FOOTPRINT | RT_HAS_NEEDED };
}

static int error_of(uint64_t has)
{
	return tree.obstacles.status.of[rti_status_bit(has)].error;
}

static int32_t pid_of(uint64_t has)
{
	return tree.obstacles.status.of[rti_status_bit(has)].pid;
}

/* E.g.: a thread ended while the io files of all threads were summed up. */
START_TEST(figure_without_an_error_is_missing_from_its_file_or_known_in_part)
{
	members[0].values.figures.partial = RT_HAS_IO;
	rti_obstacles_note_member(&tree.obstacles, &members[0], RT_HAS_IO | RT_HAS_CTXSW);

	ck_assert_uint_eq(tree.obstacles.status.met, RT_HAS_IO | RT_HAS_CTXSW);
	ck_assert_int_eq(error_of(RT_HAS_IO), -ENODATA);
	ck_assert_int_eq(error_of(RT_HAS_CTXSW), -ENOENT);
}
END_TEST

/* Of several errors the one that the sum has names the member. */
START_TEST(error_of_memory_names_the_first_member_that_has_met_it)
{
	tree.memory.moment = (struct rti_footprint){ .error = -EACCES };
	members[0].pss.rollup.error = -ESRCH;
	members[1].pss.smaps.error = -EACCES;

	rti_obstacles_note_memory(&tree);

	for (int i = 0; i < 2; i++) {
		uint64_t has = i ? RT_HAS_NEEDED : RT_HAS_FOOTPRINT;

		ck_assert_int_eq(error_of(has), -EACCES);
		ck_assert_int_eq(pid_of(has), 101);
		ck_assert_uint_eq(tree.obstacles.status.of[rti_status_bit(has)].members, 2);
	}
	ck_assert_uint_eq(tree.obstacles.status.met, RT_HAS_FOOTPRINT | RT_HAS_NEEDED);
}
END_TEST

/* It is read of smaps_rollup alone. */
START_TEST(mappings_that_could_not_be_read_are_no_obstacle_of_pss)
{
	tree.want = RT_HAS_PSS;
	tree.memory.reads_pss = true;
	tree.memory.reads.error = -EACCES;
	members[0].pss.smaps.error = -EACCES;
	members[1].pss.rollup.error = -EACCES;
	rti_obstacles_note_memory(&tree);
	ck_assert_int_eq(error_of(RT_HAS_PSS), -EACCES);
	ck_assert_int_eq(pid_of(RT_HAS_PSS), 101);
	ck_assert_uint_eq(tree.obstacles.status.of[rti_status_bit(RT_HAS_PSS)].members, 1);
}
END_TEST

START_TEST(memory_that_is_exact_or_not_wanted_has_no_error)
{
	tree.memory.moment = (struct rti_footprint){ .error = -EACCES };
	if (_i == 0)
		tree.memory.moment.is_exact = tree.memory.moment.is_needed_exact = true;
	else
		tree.want = RT_HAS_RSS;
	rti_obstacles_note_memory(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, 0);
}
END_TEST

START_TEST(needed_memory_is_exact_though_the_footprint_is_not)
{
	tree.memory.moment = (struct rti_footprint){ .error = -EDQUOT, .is_needed_exact = true };
	rti_obstacles_note_memory(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, RT_HAS_FOOTPRINT);
	ck_assert_int_eq(pid_of(RT_HAS_FOOTPRINT), 0);
}
END_TEST

/* All was read, and which pages of files are the same is not known: no member is to blame. */
START_TEST(memory_that_no_read_failed_for_has_no_error)
{
	tree.memory.moment = (struct rti_footprint){ .error = -ENODATA };
	rti_obstacles_note_memory(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, 0);
}
END_TEST

/* It was to be read, so its budget was not enough, unless there is another reason. */
START_TEST(pss_that_was_to_be_read_has_an_error_without_a_read)
{
	static const struct {
		int of_reads, of_footprint, expected;
	} errors[] = {
		{ 0, 0, -EDQUOT },
		{ -EACCES, 0, -EACCES }, /* the footprint needs no such read */
		{ 0, -ENODATA, -EDQUOT },
		{ 0, -EBUSY, -EBUSY },
	};

	tree.want = RT_HAS_PSS;
	tree.memory.reads.error = errors[_i].of_reads;
	tree.memory.moment = (struct rti_footprint){ .error = errors[_i].of_footprint };
	rti_obstacles_note_memory(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, 0); /* it was not to be read */
	tree.memory.reads_pss = true;
	rti_obstacles_note_memory(&tree);
	ck_assert_int_eq(error_of(RT_HAS_PSS), errors[_i].expected);
	tree.obstacles = (struct rti_obstacles){ 0 };
	tree.memory.moment.is_pss_read = true;
	rti_obstacles_note_memory(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tcase = suite_case(suite, "errors");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, figure_without_an_error_is_missing_from_its_file_or_known_in_part);
	tcase_add_test(tcase, error_of_memory_names_the_first_member_that_has_met_it);
	tcase_add_test(tcase, mappings_that_could_not_be_read_are_no_obstacle_of_pss);
	tcase_add_loop_test(tcase, memory_that_is_exact_or_not_wanted_has_no_error, 0, 2);
	tcase_add_test(tcase, needed_memory_is_exact_though_the_footprint_is_not);
	tcase_add_test(tcase, memory_that_no_read_failed_for_has_no_error);
	tcase_add_loop_test(tcase, pss_that_was_to_be_read_has_an_error_without_a_read, 0, 4);
	return suite_run(suite);
}
