/* SPDX-License-Identifier: MIT */
/* The list of a command's processes: what samples saw of them, joined with what the supervisor
 * wrote down. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command/process_list.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define TICK_NS (10 * MS)
#define S (1000 * MS)

/* A machine that slept for five seconds, and whose clock shows a million. */
static const struct rti_now now = { .monotonic_ns = 100 * S,
	                            .boottime_ns = 105 * S,
	                            .realtime_ns = 1000105 * S };
#define REALTIME_AHEAD_NS (1000000 * S)
#define BOOTTIME_AHEAD_NS (5 * S)

static struct rti_process_list process_list;

static void begin(void)
{
	process_list = (struct rti_process_list){ .tick_ns = TICK_NS };
}

static void end(void)
{
	rti_process_list_free(&process_list);
	ck_assert_ptr_null(process_list.rows);
	ck_assert_uint_eq(process_list.count, 0);
}

/* Seen by a sample. The start is CLOCK_BOOTTIME. */
static struct rti_member member(int32_t pid, uint64_t start_ns)
{
	struct rti_member m = {
		.pid = pid,
		.starttime = start_ns / TICK_NS,
		.stat = { .pid = pid, .ppid = 7, .comm = "sampled" },
		.figures.valid = RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_RSS,
		.peak_rss_bytes = 4096,
		.account.self = { [RTI_CPU_USER] = 11,
		                  [RTI_CPU_SYSTEM] = 12,
		                  [RTI_READ_BYTES] = 13,
		                  [RTI_WRITE_BYTES] = 14 },
	};

	return m;
}

static void sampled(int32_t pid, uint64_t start_ns, int is_running)
{
	const struct rti_member m = member(pid, start_ns);

	rti_process_list_add_member(&process_list, &m, is_running);
}

/* Written down by the supervisor, at the same instant as it counts: CLOCK_MONOTONIC. */
static struct rti_process_record record(int32_t pid, uint64_t start_ns, uint64_t end_ns)
{
	struct rti_process_record l = {
		.pid = pid,
		.ppid = 8,
		.status = 0x0300,
		.flags =
		    RTI_RECORD_FINAL | RTI_RECORD_HAS_IO | RTI_RECORD_HAS_PEAK | RTI_RECORD_REAPED,
		.start_ns = start_ns ? start_ns - BOOTTIME_AHEAD_NS : 0,
		.end_ns = end_ns ? end_ns - BOOTTIME_AHEAD_NS : 0,
		.cpu_user_ns = 21,
		.cpu_system_ns = 22,
		.read_bytes = 23,
		.write_bytes = 24,
		.peak_rss_bytes = 8192,
		.comm = "told",
	};

	return l;
}

static void told(struct rti_process_record l)
{
	rti_process_list_add_records(&process_list, &l, 1, &now);
}

static const struct rt_command_process *finish(size_t count)
{
	rti_process_list_finish(&process_list, &now);
	ck_assert_uint_eq(process_list.count, count);
	ck_assert_int_eq(process_list.is_short, 0);
	for (size_t i = 0; i < process_list.count; i++) {
		ck_assert_uint_eq(process_list.rows[i].size, sizeof(process_list.rows[i]));
		ck_assert_uint_eq(process_list.rows[i].flags &
		                      ~(uint32_t)(RT_PROCESS_FINAL | RT_PROCESS_RUNNING),
		                  0);
		ck_assert_uint_eq(process_list.rows[i].valid & process_list.rows[i].partial, 0);
		ck_assert_uint_eq((process_list.rows[i].valid | process_list.rows[i].partial) &
		                      ~(RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO),
		                  0);
	}
	return process_list.rows;
}

START_TEST(an_empty_list_stays_empty)
{
	rti_process_list_add_records(&process_list, NULL, 0, &now);
	finish(0);
}
END_TEST

START_TEST(what_a_sample_saw_is_a_lower_bound)
{
	const struct rt_command_process *row;

	sampled(10, 50 * S, 0);
	row = finish(1);
	ck_assert_uint_eq(row->flags, 0);
	ck_assert_int_eq(row->pid, 10);
	ck_assert_int_eq(row->ppid, 7);
	ck_assert_int_eq(row->exit_code, -1);
	ck_assert_int_eq(row->signal, 0);
	ck_assert_uint_eq(row->valid, 0);
	ck_assert_uint_eq(row->partial, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row->start_realtime_ns, 50 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row->end_realtime_ns, 0);
	ck_assert_uint_eq(row->cpu_user_ns, 11);
	ck_assert_uint_eq(row->cpu_system_ns, 12);
	ck_assert_uint_eq(row->peak_rss_bytes, 4096);
	ck_assert_uint_eq(row->read_bytes, 13);
	ck_assert_uint_eq(row->write_bytes, 14);
	ck_assert_str_eq(row->comm, "sampled");
}
END_TEST

START_TEST(what_a_sample_could_not_read_has_no_bit)
{
	struct rti_member m = member(10, 50 * S);
	const struct rt_command_process *row;

	m.figures.valid = RT_HAS_RSS;
	m.figures.partial = RT_HAS_CPU;
	m.peak_rss_bytes = 0;
	rti_process_list_add_member(&process_list, &m, 0);
	row = finish(1);
	ck_assert_uint_eq(row->partial, RT_HAS_CPU);
	m.figures.valid = RT_HAS_PEAK_RSS; /* a zombie's */
	m.pid = 11;
	end();
	begin();
	rti_process_list_add_member(&process_list, &m, 0);
	row = finish(1);
	ck_assert_uint_eq(row->partial & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(what_was_written_down_is_final)
{
	const struct rt_command_process *row;

	told(record(10, 50 * S, 60 * S));
	row = finish(1);
	ck_assert_uint_eq(row->flags, RT_PROCESS_FINAL);
	ck_assert_int_eq(row->ppid, 8);
	ck_assert_int_eq(row->exit_code, 3);
	ck_assert_int_eq(row->signal, 0);
	ck_assert_uint_eq(row->valid, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row->partial, 0);
	ck_assert_uint_eq(row->start_realtime_ns, 50 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row->end_realtime_ns, 60 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row->cpu_user_ns, 21);
	ck_assert_uint_eq(row->cpu_system_ns, 22);
	ck_assert_uint_eq(row->read_bytes, 23);
	ck_assert_uint_eq(row->write_bytes, 24);
	ck_assert_uint_eq(row->peak_rss_bytes, 8192);
	ck_assert_str_eq(row->comm, "told");
}
END_TEST

START_TEST(figures_without_their_flag_are_not_handed_on)
{
	struct rti_process_record l = record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	l.flags = RTI_RECORD_REAPED;
	told(l);
	row = finish(1);
	ck_assert_uint_eq(row->flags, 0);
	ck_assert_uint_eq(row->valid | row->partial, 0);
	ck_assert_uint_eq(row->cpu_user_ns + row->cpu_system_ns + row->read_bytes +
	                      row->write_bytes + row->peak_rss_bytes,
	                  0);
	ck_assert_int_eq(row->exit_code, 3);
}
END_TEST

START_TEST(ends_are_told_apart)
{
	struct rti_process_record killed = record(10, 50 * S, 60 * S),
				  dumped = record(11, 51 * S, 60 * S), runs = record(12, 52 * S, 0);
	const struct rt_command_process *row;

	killed.status = SIGTERM;
	dumped.status = SIGSEGV | 0x80;
	runs.flags = 0;
	told(killed);
	told(dumped);
	told(runs);
	row = finish(3);
	ck_assert_int_eq(row[0].signal, SIGTERM);
	ck_assert_int_eq(row[0].exit_code, -1);
	ck_assert_int_eq(row[1].signal, SIGSEGV);
	ck_assert_int_eq(row[1].exit_code, -1);
	ck_assert_int_eq(row[2].signal, 0);
	ck_assert_int_eq(row[2].exit_code, -1);
	ck_assert_uint_eq(row[2].end_realtime_ns, 0);
}
END_TEST

/* /proc tells a start in whole ticks, so earlier than the event; whichever comes first into the
 * list. */
START_TEST(both_sources_make_one_row)
{
	const uint64_t exact_ns = 50 * S + 7 * MS + 123;
	const struct rt_command_process *row;

	if (_i)
		told(record(10, exact_ns, 60 * S));
	sampled(10, exact_ns, 0);
	if (!_i)
		told(record(10, exact_ns, 60 * S));
	row = finish(1);
	ck_assert_uint_eq(row->flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row->start_realtime_ns, exact_ns + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row->valid, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row->partial, 0);
	ck_assert_uint_eq(row->cpu_user_ns, 21);
	ck_assert_uint_eq(row->read_bytes, 23);
	ck_assert_uint_eq(row->peak_rss_bytes, 8192);
	ck_assert_int_eq(row->ppid, 8); /* who forked it, not who has it by now */
	ck_assert_str_eq(row->comm, "told");
}
END_TEST

START_TEST(what_was_not_written_down_comes_from_the_sample)
{
	struct rti_process_record l = record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	l.flags = RTI_RECORD_HAS_IO;
	l.comm[0] = '\0';
	told(l);
	sampled(10, 50 * S, 0);
	row = finish(1);
	ck_assert_uint_eq(row->flags, 0);
	ck_assert_uint_eq(row->valid, RT_HAS_IO);
	ck_assert_uint_eq(row->partial, RT_HAS_CPU | RT_HAS_PEAK_RSS);
	ck_assert_uint_eq(row->cpu_user_ns, 11);
	ck_assert_uint_eq(row->cpu_system_ns, 12);
	ck_assert_uint_eq(row->peak_rss_bytes, 4096);
	ck_assert_uint_eq(row->read_bytes, 23);
	ck_assert_uint_eq(row->write_bytes, 24);
	ck_assert_int_eq(row->exit_code, 3);
	ck_assert_str_eq(row->comm, "sampled");
}
END_TEST

START_TEST(who_runs_on_is_marked_and_has_its_name_of_now)
{
	struct rti_process_record l = record(10, 50 * S, 0);
	const struct rt_command_process *row;

	l.flags = 0;
	told(l);
	sampled(10, 50 * S, 1);
	sampled(11, 51 * S, 1);
	row = finish(2);
	ck_assert_uint_eq(row[0].flags, RT_PROCESS_RUNNING);
	ck_assert_str_eq(row[0].comm, "sampled");
	ck_assert_int_eq(row[0].exit_code, -1);
	ck_assert_uint_eq(row[0].end_realtime_ns, 0);
	ck_assert_uint_eq(row[0].partial, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row[1].flags, RT_PROCESS_RUNNING);
}
END_TEST

START_TEST(a_number_that_came_round_is_two_processes)
{
	const struct rt_command_process *row;

	told(record(10, 50 * S, 51 * S));
	told(record(10, 52 * S, 53 * S));
	sampled(10, 52 * S, 0);
	sampled(10, 54 * S, 0);
	row = finish(3);
	ck_assert_uint_eq(row[0].start_realtime_ns, 50 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[1].start_realtime_ns, 52 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[2].start_realtime_ns, 54 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[0].flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row[1].flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row[2].flags, 0);
}
END_TEST

/* However close: two rows of one source are two processes. */
START_TEST(rows_of_one_source_are_never_joined)
{
	told(record(10, 50 * S, 50 * S + 1));
	told(record(10, 50 * S + 2, 50 * S + 3));
	sampled(11, 50 * S, 0);
	sampled(11, 50 * S + TICK_NS, 0);
	finish(4);
}
END_TEST

START_TEST(other_numbers_are_others)
{
	told(record(10, 50 * S, 51 * S));
	sampled(11, 50 * S, 0);
	finish(2);
}
END_TEST

START_TEST(a_tolerance_has_an_end)
{
	told(record(10, 50 * S + 40 * MS, 51 * S));
	sampled(10, 50 * S, 0);
	told(record(11, 50 * S + 60 * MS, 51 * S));
	sampled(11, 50 * S, 0);
	finish(3);
}
END_TEST

START_TEST(an_unknown_start_stays_unknown_and_comes_first)
{
	const struct rt_command_process *row;

	told(record(10, 50 * S, 60 * S));
	told(record(11, 0, 60 * S));
	row = finish(2);
	ck_assert_int_eq(row[0].pid, 11);
	ck_assert_uint_eq(row[0].start_realtime_ns, 0);
	ck_assert_uint_eq(row[0].end_realtime_ns, 60 * S + REALTIME_AHEAD_NS);
	ck_assert_int_eq(row[1].pid, 10);
}
END_TEST

START_TEST(a_full_name_still_ends)
{
	struct rti_process_record l = record(10, 50 * S, 60 * S);

	memset(l.comm, 'x', sizeof(l.comm));
	told(l);
	ck_assert_str_eq(finish(1)->comm, "xxxxxxxxxxxxxxxx");
}
END_TEST

/* Starts are a permutation, pids another: every process is there once, by start, whoever told of
 * it. */
START_TEST(many_come_out_in_the_order_of_their_start)
{
	enum { MANY = 5003 }; /* a prime: multiples of any number go round all of it */
	const struct rt_command_process *row;

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t start_ns = 10 * S + i * 1777 % MANY * 1000 * MS;
		int32_t pid = 1 + (int32_t)(i * 31 % MANY);

		if (i % 3 != 0)
			told(record(pid, start_ns + 3 * MS, start_ns + 500 * MS));
		if (i % 3 != 1)
			sampled(pid, start_ns + 3 * MS, 0);
	}
	row = finish(MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t at = (row[i].start_realtime_ns - REALTIME_AHEAD_NS - 10 * S) / (1000 * MS);

		ck_assert_uint_eq(at, i);
		ck_assert_uint_eq(row[i].flags == 0 && row[i].partial == 0, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lives");
	TCase *rows = suite_case(suite, "rows"), *joins = suite_case(suite, "joins");

	tcase_add_checked_fixture(rows, begin, end);
	tcase_add_checked_fixture(joins, begin, end);
	tcase_add_test(rows, an_empty_list_stays_empty);
	tcase_add_test(rows, what_a_sample_saw_is_a_lower_bound);
	tcase_add_test(rows, what_a_sample_could_not_read_has_no_bit);
	tcase_add_test(rows, what_was_written_down_is_final);
	tcase_add_test(rows, figures_without_their_flag_are_not_handed_on);
	tcase_add_test(rows, ends_are_told_apart);
	tcase_add_test(rows, a_full_name_still_ends);
	tcase_add_loop_test(joins, both_sources_make_one_row, 0, 2);
	tcase_add_test(joins, what_was_not_written_down_comes_from_the_sample);
	tcase_add_test(joins, who_runs_on_is_marked_and_has_its_name_of_now);
	tcase_add_test(joins, a_number_that_came_round_is_two_processes);
	tcase_add_test(joins, rows_of_one_source_are_never_joined);
	tcase_add_test(joins, other_numbers_are_others);
	tcase_add_test(joins, a_tolerance_has_an_end);
	tcase_add_test(joins, an_unknown_start_stays_unknown_and_comes_first);
	tcase_add_test(joins, many_come_out_in_the_order_of_their_start);
	return suite_run(suite);
}
