/* SPDX-License-Identifier: MIT */
/* rt_tracker_top(): which processes used most since the sample before, and how sure that is. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/tree_fixture.h"
#include "tree/tree_inside.h"

#define RUN_TICKS 7
#define ROOM 8
#define MANY 16 /* rows of the ended before their array grows */

static struct rt_process rows[2 * MANY];

static size_t take_top(uint32_t order, size_t room)
{
	size_t count = room;

	memset(rows, 0xff, sizeof(rows));
	ck_assert_int_eq(rt_tracker_top(fix.tracker, order, rows, sizeof(rows[0]), &count), 0);
	return count;
}

static const struct rt_process *find_row(size_t count, int32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].pid == pid)
			return &rows[i];
	ck_abort_msg("no row of %d", pid);
}

/* The first sample is of the family. What the test then writes is seen by the second one. */
static void track_family(void)
{
	write_family();
	track_process(100, 0);
	take_sample();
}

static void run(struct fake_process process, uint64_t utime, uint64_t read_bytes)
{
	process.utime += utime;
	process.read_bytes += read_bytes;
	fake_process_write(&fix.root, &process);
}

START_TEST(process_that_used_most_since_the_sample_before_comes_first)
{
	track_family();
	run(second_child, RUN_TICKS, 0);
	run(first_child, 2, 0);
	take_sample();

	ck_assert_uint_eq(take_top(RT_TOP_CPU, ROOM), 3);
	ck_assert_int_eq(rows[0].pid, 102);
	ck_assert_uint_eq(rows[0].cpu_user_ns, RUN_TICKS * TICK_NS);
	ck_assert_uint_eq(rows[0].cpu_system_ns, 0);
	ck_assert_uint_eq(rows[0].minor_faults, 0);
	ck_assert_int_eq(RT_QUALITY(&rows[0], RT_HAS_CPU), RT_QUALITY_EXACT);
	ck_assert_int_eq(rows[1].pid, 101);
	ck_assert_uint_eq(rows[1].cpu_user_ns, 2 * TICK_NS);
	ck_assert_int_eq(rows[2].pid, 100);
	ck_assert_uint_eq(rows[2].cpu_user_ns, 0);
}
END_TEST

START_TEST(each_order_compares_its_own_figure)
{
	track_family();
	run(second_child, RUN_TICKS, 0);
	run(shell, 0, 4096);
	take_sample();

	take_top(RT_TOP_MEMORY, ROOM);
	ck_assert_int_eq(rows[0].pid, 101);
	ck_assert_uint_eq(rows[0].rss_bytes, pages_to_bytes(first_child.rss_pages));
	take_top(RT_TOP_IO, ROOM);
	ck_assert_int_eq(rows[0].pid, 100);
	ck_assert_uint_eq(rows[0].read_bytes, 4096);
	ck_assert_uint_eq(rows[0].write_bytes, 0);
}
END_TEST

/* Room for one, two and three of the six that there are. */
START_TEST(rows_that_there_is_no_room_for_are_those_that_used_least)
{
	struct fake_process parent = shell, child = second_child;
	size_t room = (size_t)_i;

	parent.children = "101 102 103 104 105 ";
	for (int pid = 101; pid <= 105; pid++) {
		child.pid = pid;
		fake_process_write(&fix.root, &child);
	}
	fake_process_write(&fix.root, &parent);
	track_process(100, 0);
	take_sample();
	for (int pid = 101; pid <= 105; pid++) {
		child.pid = pid;
		run(child, (uint64_t)(pid % 3) * 10 + (uint64_t)(pid - 100), 0);
	}
	take_sample();

	ck_assert_uint_eq(take_top(RT_TOP_CPU, room), room);
	/* 104: 24 ticks, 101: 21, 105: 5, 102: 2, 103: 13. */
	static const int32_t order[] = { 104, 101, 103, 105, 102, 100 };
	for (size_t i = 0; i < room; i++)
		ck_assert_int_eq(rows[i].pid, order[i]);
	ck_assert_uint_eq(rows[room].size, UINT32_MAX);
}
END_TEST

START_TEST(second_top_compares_the_last_two_samples_alone)
{
	track_family();
	run(first_child, RUN_TICKS, 0);
	take_sample();
	run(second_child, 1, 0);
	take_sample();

	take_top(RT_TOP_CPU, ROOM);
	ck_assert_int_eq(rows[0].pid, 102);
	ck_assert_uint_eq(find_row(3, 101)->cpu_user_ns, 0);
}
END_TEST

START_TEST(process_that_has_ended_is_listed_with_what_was_read_of_it)
{
	struct fake_process parent = shell, zombie = second_child;
	const struct rt_process *row;

	track_family();
	zombie.is_zombie = true;
	run(zombie, RUN_TICKS, 0);
	take_sample();
	fake_process_remove(&fix.root, 102);
	parent.children = "101 ";
	parent.cutime = zombie.utime + RUN_TICKS;
	parent.cminflt = zombie.minflt;
	run(parent, 0, 0);
	take_sample();

	ck_assert_uint_eq(take_top(RT_TOP_CPU, ROOM), 3);
	row = find_row(3, 102);
	ck_assert_uint_eq(row->state, 'X');
	ck_assert_uint_eq(row->rss_bytes, 0);
	ck_assert_uint_eq(row->start_ticks, second_child.starttime);
	/* It did not run as a zombie. */
	ck_assert_uint_eq(row->cpu_user_ns, 0);
	take_sample();
	ck_assert_uint_eq(take_top(RT_TOP_CPU, ROOM), 2);
}
END_TEST

START_TEST(process_that_ended_unread_has_a_lower_bound)
{
	struct fake_process parent = shell;
	const struct rt_process *row;

	track_family();
	take_sample();
	fake_process_remove(&fix.root, 102);
	parent.children = "101 ";
	parent.cutime = second_child.utime + RUN_TICKS;
	parent.cminflt = second_child.minflt;
	run(parent, 0, 0);
	take_sample();

	row = find_row(take_top(RT_TOP_CPU, ROOM), 102);
	ck_assert_uint_eq(row->state, 'X');
	ck_assert_uint_eq(row->cpu_user_ns, 0);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_LOWER_BOUND);
}
END_TEST

static void add_child_started_at(uint64_t ticks)
{
	struct fake_process parent = shell, child = first_child;

	parent.children = "101 102 103 ";
	child.pid = 103;
	child.starttime = ticks;
	fake_process_write(&fix.root, &parent);
	fake_process_write(&fix.root, &child);
}

START_TEST(process_that_has_begun_since_has_all_that_it_used)
{
	struct rt_metrics m;
	const struct rt_process *row;

	write_family();
	track_process(100, 0);
	m = take_sample();
	add_child_started_at(m.boottime_ns / TICK_NS + 1);
	take_sample();

	row = find_row(take_top(RT_TOP_CPU, ROOM), 103);
	ck_assert_uint_eq(row->cpu_user_ns, first_child.utime * TICK_NS);
	ck_assert_uint_eq(row->cpu_system_ns, first_child.stime * TICK_NS);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_EXACT);
}
END_TEST

START_TEST(new_member_that_ran_before_has_a_lower_bound)
{
	const struct rt_process *row;

	track_family();
	add_child_started_at(1);
	take_sample();

	row = find_row(take_top(RT_TOP_CPU, ROOM), 103);
	ck_assert_uint_eq(row->cpu_user_ns, 0);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_LOWER_BOUND);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_RSS), RT_QUALITY_EXACT);
}
END_TEST

/* A poll is the first to read it. What it used before that is not of an earlier sample. */
START_TEST(process_that_a_poll_has_found_has_all_that_it_used)
{
	struct fake_process child = first_child;
	const struct rt_process *row;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	m = take_sample();
	child.pid = 103;
	child.starttime = m.boottime_ns / TICK_NS + 1;
	add_child_started_at(child.starttime);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
		run(child, RUN_TICKS, 0);
	}
	take_sample();

	row = find_row(take_top(RT_TOP_CPU, ROOM), 103);
	ck_assert_uint_eq(row->cpu_user_ns, (child.utime + RUN_TICKS) * TICK_NS);
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_EXACT);
	run(child, RUN_TICKS + 1, 0);
	take_sample();
	row = find_row(take_top(RT_TOP_CPU, ROOM), 103);
	ck_assert_uint_eq(row->cpu_user_ns, TICK_NS);
}
END_TEST

/* The root is waited for after a sample: the next one has it among those that have ended. */
START_TEST(root_that_was_waited_for_is_listed_by_the_next_sample)
{
	const struct rt_process *row;

	track_family();
	take_sample();
	account_root_exit(fix.tracker, 100, 1.0, 0.0);
	fake_process_remove(&fix.root, 100);
	take_sample();
	ck_assert_uint_eq(take_top(RT_TOP_CPU, ROOM), 3);
	row = find_row(3, 100);
	ck_assert_uint_eq(row->state, 'X');
	ck_assert_int_eq(RT_QUALITY(row, RT_HAS_CPU), RT_QUALITY_LOWER_BOUND);
	take_sample();
	ck_assert_uint_eq(take_top(RT_TOP_CPU, ROOM), 2);
}
END_TEST

static void track_supervised(int children, const struct rti_shared_stats *shared)
{
	struct fake_process parent = shell, child = first_child;
	char list[(MANY + 1) * 4 + 1];

	for (int i = 0; i < children; i++) {
		child.pid = 101 + i;
		snprintf(list + 4 * i, 5, "%d ", child.pid);
		fake_process_write(&fix.root, &child);
	}
	parent.children = list;
	fake_process_write(&fix.root, &parent);
	track_process(100, 0);
	make_supervisor(fix.tracker, 100, shared);
	take_sample();
}

/* The rows of the others fill their array, which moves if it grows: there is no room behind it. */
START_TEST(supervisor_that_ends_with_its_tree_leaves_the_rows_of_the_others)
{
	const struct rti_shared_stats shared = { 0 };
	struct rt_metrics m;
	void *behind[64];

	track_supervised(MANY + 1, &shared);
	fake_process_remove(&fix.root, 101 + MANY);
	take_sample();
	for (int i = 0; i < 64; i++)
		behind[i] = malloc(MANY * sizeof(rows[0]));
	for (int i = 0; i <= MANY; i++)
		fake_process_remove(&fix.root, 100 + i);
	ck_assert_int_eq(try_sample(&m), -ESRCH);
	ck_assert_uint_eq(take_top(RT_TOP_CPU, MANY + 1), MANY);
	for (int i = 0; i < MANY; i++)
		ck_assert_uint_eq(rows[i].state, 'X');
	ck_assert_int_eq(try_sample(&m), -ESRCH);
	ck_assert_uint_eq(take_top(RT_TOP_CPU, MANY + 1), 0);
	for (int i = 0; i < 64; i++)
		free(behind[i]);
}
END_TEST

START_TEST(top_of_less_than_two_samples_is_enodata)
{
	size_t count = ROOM;

	write_family();
	track_process(100, 0);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, rows, sizeof(rows[0]), &count),
	                 -ENODATA);
	take_sample();
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, rows, sizeof(rows[0]), &count),
	                 -ENODATA);
	ck_assert_uint_eq(count, ROOM);
}
END_TEST

START_TEST(bad_arguments_of_top_are_refused)
{
	size_t count = ROOM, none = 0;

	track_family();
	take_sample();
	ck_assert_int_eq(rt_tracker_top(NULL, RT_TOP_CPU, rows, sizeof(rows[0]), &count), -EFAULT);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, NULL, sizeof(rows[0]), &count),
	                 -EFAULT);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, rows, sizeof(rows[0]), NULL),
	                 -EFAULT);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, 0, rows, sizeof(rows[0]), &count), -EINVAL);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, 4, rows, sizeof(rows[0]), &count), -EINVAL);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, rows, 8, &count), -EINVAL);
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, NULL, sizeof(rows[0]), &none), 0);
	ck_assert_uint_eq(none, 0);
}
END_TEST

START_TEST(top_by_a_figure_that_is_not_wanted_is_eopnotsupp)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = fix.root.root, .want = RT_HAS_RSS };
	size_t count = ROOM;

	write_family();
	ck_assert_int_eq(rti_tracker_new(&fix.tracker, 100, &opts, &faults_ops), 0);
	take_sample();
	take_sample();
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_IO, rows, sizeof(rows[0]), &count),
	                 -EOPNOTSUPP);
	take_top(RT_TOP_MEMORY, 1);
	ck_assert_int_eq(rows[0].pid, 101);
}
END_TEST

/* A program with the header of 0.1 has a shorter row. */
START_TEST(top_of_an_older_program_fits_its_rows)
{
	size_t size = offsetof(struct rt_process, pss_age_ns), count = 2;
	unsigned char older[3 * sizeof(struct rt_process)];
	struct rt_process row;

	memset(older, 0x55, sizeof(older));
	track_family();
	run(second_child, RUN_TICKS, 0);
	run(first_child, 2, 0);
	take_sample();
	ck_assert_int_eq(rt_tracker_top(fix.tracker, RT_TOP_CPU, (void *)older, size, &count), 0);
	memcpy(&row, older, size);
	ck_assert_int_eq(row.pid, 102);
	memcpy(&row, older + size, size);
	ck_assert_int_eq(row.pid, 101);
	ck_assert_uint_eq(older[2 * size], 0x55);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("top");
	TCase *top = add_tree_case(suite, "top");

	tcase_add_test(top, process_that_used_most_since_the_sample_before_comes_first);
	tcase_add_test(top, each_order_compares_its_own_figure);
	tcase_add_loop_test(top, rows_that_there_is_no_room_for_are_those_that_used_least, 0, 7);
	tcase_add_test(top, second_top_compares_the_last_two_samples_alone);
	tcase_add_test(top, process_that_has_ended_is_listed_with_what_was_read_of_it);
	tcase_add_test(top, process_that_ended_unread_has_a_lower_bound);
	tcase_add_test(top, process_that_has_begun_since_has_all_that_it_used);
	tcase_add_test(top, new_member_that_ran_before_has_a_lower_bound);
	tcase_add_test(top, process_that_a_poll_has_found_has_all_that_it_used);
	tcase_add_test(top, root_that_was_waited_for_is_listed_by_the_next_sample);
	tcase_add_test(top, supervisor_that_ends_with_its_tree_leaves_the_rows_of_the_others);
	tcase_add_test(top, top_of_less_than_two_samples_is_enodata);
	tcase_add_test(top, bad_arguments_of_top_are_refused);
	tcase_add_test(top, top_by_a_figure_that_is_not_wanted_is_eopnotsupp);
	tcase_add_test(top, top_of_an_older_program_fits_its_rows);
	return suite_run(suite);
}
