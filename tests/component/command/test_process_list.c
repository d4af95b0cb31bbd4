/* SPDX-License-Identifier: MIT */
/* The list of processes when memory is short, and when processes that ran on have ended. The test
 * takes the place of the arrays that grow and of the tree. */
#include "command/process_list.h"

#include <string.h>

#include "suite.h"
#include "tree/tree.h"
#include "util/array.h"

static unsigned growths_left;
static int32_t running_pid;

void *__wrap_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);
void *__real_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);
bool __wrap_rti_tree_is_running(const struct rti_tree *tree, int32_t pid);

void *__wrap_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size)
{
	if (growths_left == 0)
		return NULL;
	growths_left--;
	return __real_rti_array_grow(array, capacity, count, element_size);
}

bool __wrap_rti_tree_is_running(const struct rti_tree *tree, int32_t pid)
{
	ck_assert_ptr_null(tree);
	return pid == running_pid;
}

static struct rti_process_list process_list;

static void set_up(void)
{
	process_list = (struct rti_process_list){ .tick_ns = 1 };
	growths_left = 1000;
}

static void tear_down(void)
{
	rti_process_list_free(&process_list);
}

static void add_member(int32_t pid, bool is_running)
{
	const struct rti_member_row m = { .process = { .pid = pid }, .is_running = is_running };

	rti_process_list_add_member(&process_list, &m);
}

static void add_record(int32_t pid)
{
	const struct rti_process_record record = { .pid = pid };
	const struct rti_process_records all = { .records = &record, .count = 1 };
	const struct rti_now now = { 0 };

	rti_process_list_add_records(&process_list, &all, &now);
}

static void add_row(int32_t pid)
{
	const struct rt_command_process row = { .size = sizeof(row), .pid = pid };

	rti_process_list_add_row(&process_list, &row, 0, 0);
}

/* By each of the three sources. */
START_TEST(process_that_memory_lacks_for_makes_the_list_short)
{
	growths_left = 1;
	add_member(10, false);
	ck_assert(!process_list.is_short);
	if (_i == 0)
		add_member(11, false);
	else if (_i == 1)
		add_record(11);
	else
		add_row(11);
	ck_assert(process_list.is_short);
	ck_assert_uint_eq(process_list.count, 1);
	ck_assert_int_eq(process_list.rows[0].shown.pid, 10);
}
END_TEST

START_TEST(process_that_ran_on_is_marked_until_it_has_ended)
{
	for (int32_t pid = 10; pid < 13; pid++)
		add_member(pid, pid != 12);
	running_pid = 11;
	rti_process_list_update(&process_list, NULL);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(process_list.rows[i].shown.flags & RT_PROCESS_RUNNING,
		                  i == 1 ? RT_PROCESS_RUNNING : 0);
}
END_TEST

/* One of the same pid that runs on is another process. */
START_TEST(exit_of_the_program_is_set_in_the_row_that_does_not_run)
{
	add_member(10, true);
	add_member(10, false);
	add_member(11, false);
	rti_process_list_set_exit(&process_list, 10, 3, 9, 77);
	ck_assert_int_eq(process_list.rows[0].shown.exit_code, -1);
	ck_assert_int_eq(process_list.rows[1].shown.exit_code, 3);
	ck_assert_int_eq(process_list.rows[1].shown.signal, 9);
	ck_assert_uint_eq(process_list.rows[1].shown.end_realtime_ns, 77);
	ck_assert_int_eq(process_list.rows[2].shown.exit_code, -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_list");
	TCase *tcase = suite_case(suite, "process_list");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, process_that_memory_lacks_for_makes_the_list_short, 0, 3);
	tcase_add_test(tcase, process_that_ran_on_is_marked_until_it_has_ended);
	tcase_add_test(tcase, exit_of_the_program_is_set_in_the_row_that_does_not_run);
	return suite_run(suite);
}
