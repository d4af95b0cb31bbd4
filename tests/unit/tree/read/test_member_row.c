/* SPDX-License-Identifier: MIT */
/* Which members the lists of processes have, and which of them run. */
#include "tree/read/member_row.h"

#include "collect/collector.h"
#include "suite.h"
#include "tree/state/state.h"
#include "util/visit.h"

#define PID 100
#define MEMBERS 3

static const struct rti_platform platform = { .page_size = 4096 };
static const struct rti_context ctx = { .platform = &platform };
static struct rti_tree tree;
static int32_t last_pid;
static unsigned calls;

static void set_up(void)
{
	tree = (struct rti_tree){ .ctx = &ctx };
	ck_assert_int_eq(rti_member_table_init(&tree.table, 0), 0);
	for (int i = 0; i < MEMBERS; i++) {
		const struct rti_pid_stat stat = {
			.pid = PID + i, .ppid = 1, .state = i == 1 ? 'Z' : 'S', .num_threads = 1
		};

		ck_assert_int_eq(rti_member_table_add_take(&tree.table, &ctx, &stat, NULL), 0);
	}
	rti_rows_begin(&tree);
	calls = 0;
}

static void tear_down(void)
{
	rti_member_table_free(&tree.table, &ctx);
}

static int note(int32_t pid, const int32_t *stop_at)
{
	last_pid = pid;
	calls++;
	return pid == *stop_at ? RTI_STOP : RTI_CONTINUE;
}

static int note_row(void *stop_at, const struct rti_member_row *row)
{
	ck_assert_int_eq(row->is_running, row->process.pid != PID + 1);
	return note(row->process.pid, stop_at);
}

static int note_process(void *stop_at, const struct rt_process *row)
{
	return note(row->pid, stop_at);
}

START_TEST(process_runs_if_it_is_a_member_and_no_zombie)
{
	ck_assert(rti_tree_is_running(&tree, PID));
	ck_assert(!rti_tree_is_running(&tree, PID + 1));
	ck_assert(!rti_tree_is_running(&tree, PID + MEMBERS));
}
END_TEST

/* With the number of the one that ends the list; 0: none does. */
START_TEST(list_ends_where_its_reader_ends_it)
{
	static const int32_t stops[] = { 0, PID, PID + 1 };
	int32_t stop_at = stops[_i];

	rti_tree_each(&tree, note_row, &stop_at);
	ck_assert_uint_eq(calls, _i ? (unsigned)_i : MEMBERS);
	rti_tree_each_sampled(&tree, note_process, &stop_at);
	ck_assert_uint_eq(calls, 2 * (_i ? (unsigned)_i : MEMBERS));
	ck_assert_int_eq(last_pid, _i ? stop_at : PID + MEMBERS - 1);
}
END_TEST

START_TEST(our_own_supervisor_is_in_no_list)
{
	int32_t stop_at = 0;

	tree.supervised.pid = PID;
	rti_tree_each(&tree, note_row, &stop_at);
	rti_tree_each_sampled(&tree, note_process, &stop_at);
	ck_assert_uint_eq(calls, 2 * (MEMBERS - 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("member_row");
	TCase *tcase = suite_case(suite, "rows");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, process_runs_if_it_is_a_member_and_no_zombie);
	tcase_add_loop_test(tcase, list_ends_where_its_reader_ends_it, 0, 3);
	tcase_add_test(tcase, our_own_supervisor_is_in_no_list);
	return suite_run(suite);
}
