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
		                  .want = RT_HAS_PSS };
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
START_TEST(error_of_pss_names_the_first_member_that_has_met_it)
{
	tree.memory.moment =
	    (struct rti_memory_moment){ .source = RT_PSS_ESTIMATED, .error = -EACCES };
	members[0].pss.error = -ESRCH;
	members[1].pss.error = -EACCES;

	rti_obstacles_note_pss(&tree);

	ck_assert_int_eq(error_of(RT_HAS_PSS), -EACCES);
	ck_assert_int_eq(pid_of(RT_HAS_PSS), 101);
	ck_assert_uint_eq(tree.obstacles.status.of[rti_status_bit(RT_HAS_PSS)].members, 2);
}
END_TEST

START_TEST(pss_that_is_exact_or_not_wanted_or_of_no_process_has_no_error)
{
	tree.memory.moment =
	    (struct rti_memory_moment){ .source = RT_PSS_ESTIMATED, .error = -EACCES };
	if (_i == 0)
		tree.memory.moment.is_exact = true;
	else if (_i == 1)
		tree.want = RT_HAS_RSS;
	else
		tree.memory.moment.source = 0;
	rti_obstacles_note_pss(&tree);
	ck_assert_uint_eq(tree.obstacles.status.met, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tcase = suite_case(suite, "errors");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, figure_without_an_error_is_missing_from_its_file_or_known_in_part);
	tcase_add_test(tcase, error_of_pss_names_the_first_member_that_has_met_it);
	tcase_add_loop_test(tcase, pss_that_is_exact_or_not_wanted_or_of_no_process_has_no_error, 0,
	                    3);
	return suite_run(suite);
}
