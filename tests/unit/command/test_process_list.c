/* SPDX-License-Identifier: MIT */
/* The list of a command's processes: what samples saw of them, merged with the records of the
 * supervisor. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command/process_list.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define TICK_NS (10 * MS)
#define S (1000 * MS)
#define ROWS_MAX 5003

/* A system that was suspended for five seconds, with a realtime clock a million seconds ahead. */
static const struct rti_now now = { .monotonic_ns = 100 * S,
	                            .boottime_ns = 105 * S,
	                            .realtime_ns = 1000105 * S };
#define REALTIME_AHEAD_NS (1000000 * S)
#define BOOTTIME_AHEAD_NS (5 * S)

static struct rti_process_list process_list;

static void set_up(void)
{
	process_list = (struct rti_process_list){ .tick_ns = TICK_NS };
}

static void tear_down(void)
{
	rti_process_list_free(&process_list);
	ck_assert_ptr_null(process_list.rows);
	ck_assert_uint_eq(process_list.count, 0);
}

/* As a sample sees it. The start is on CLOCK_BOOTTIME. */
static struct rti_member_row make_member(int32_t pid, uint64_t start_ns)
{
	struct rti_member_row m = {
		.process = { .pid = pid,
		             .ppid = 7,
		             .start_ticks = start_ns / TICK_NS,
		             .comm = "sampled" },
		.known = RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_RSS,
		.cpu_user_ns = 11,
		.cpu_system_ns = 12,
		.read_bytes = 13,
		.write_bytes = 14,
		.peak_rss_bytes = 4096,
	};

	return m;
}

static void add_member(int32_t pid, uint64_t start_ns, bool is_running)
{
	struct rti_member_row m = make_member(pid, start_ns);

	m.is_running = is_running;
	rti_process_list_add_member(&process_list, &m);
}

/* As the supervisor logs it, with the same start on CLOCK_MONOTONIC. */
static struct rti_process_record make_record(int32_t pid, uint64_t start_ns, uint64_t end_ns)
{
	struct rti_process_record record = {
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
		.comm = "logged",
	};

	return record;
}

static void add_record(struct rti_process_record record)
{
	const struct rti_process_records all = { .records = &record, .count = 1 };

	rti_process_list_add_records(&process_list, &all, &now);
}

static const struct rt_command_process *finish_list(size_t count)
{
	static struct rt_command_process rows[ROWS_MAX];

	rti_process_list_finish(&process_list, &now);
	ck_assert_uint_eq(process_list.count, count);
	ck_assert_uint_le(count, ROWS_MAX);
	ck_assert(!process_list.is_short);
	for (size_t i = 0; i < process_list.count; i++) {
		rows[i] = process_list.rows[i].shown;
		ck_assert_uint_eq(rows[i].size, sizeof(rows[i]));
		ck_assert_uint_eq(rows[i].flags &
		                      ~(uint32_t)(RT_PROCESS_FINAL | RT_PROCESS_RUNNING |
		                                  RT_PROCESS_NO_EXEC | RT_PROCESS_CUT |
		                                  RT_PROCESS_OWN_IO),
		                  0);
		ck_assert_uint_eq(rows[i].valid & rows[i].partial, 0);
		ck_assert_uint_eq((rows[i].valid | rows[i].partial) &
		                      ~(RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO),
		                  0);
	}
	return rows;
}

START_TEST(list_without_rows_stays_empty)
{
	rti_process_list_add_records(&process_list, &(struct rti_process_records){ 0 }, &now);
	finish_list(0);
}
END_TEST

START_TEST(member_seen_by_samples_only_is_a_lower_bound)
{
	const struct rt_command_process *row;

	add_member(10, 50 * S, false);
	row = finish_list(1);
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

START_TEST(member_with_unread_figures_lacks_their_bits)
{
	struct rti_member_row m = make_member(10, 50 * S);
	const struct rt_command_process *row;

	m.known = RT_HAS_CPU | RT_HAS_RSS;
	rti_process_list_add_member(&process_list, &m);
	row = finish_list(1);
	ck_assert_uint_eq(row->partial, RT_HAS_CPU);
}
END_TEST

START_TEST(record_of_the_supervisor_is_final)
{
	const struct rt_command_process *row;

	add_record(make_record(10, 50 * S, 60 * S));
	row = finish_list(1);
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
	ck_assert_str_eq(row->comm, "logged");
}
END_TEST

START_TEST(record_without_flags_has_no_figures)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	record.flags = RTI_RECORD_REAPED;
	add_record(record);
	row = finish_list(1);
	ck_assert_uint_eq(row->flags, 0);
	ck_assert_uint_eq(row->valid | row->partial, 0);
	ck_assert_uint_eq(row->cpu_user_ns + row->cpu_system_ns + row->read_bytes +
	                      row->write_bytes + row->peak_rss_bytes,
	                  0);
	ck_assert_int_eq(row->exit_code, 3);
}
END_TEST

START_TEST(records_of_killed_dumped_and_running_processes_differ)
{
	struct rti_process_record killed = make_record(10, 50 * S, 60 * S),
				  dumped = make_record(11, 51 * S, 60 * S),
				  runs = make_record(12, 52 * S, 0);
	const struct rt_command_process *row;

	killed.status = SIGTERM;
	dumped.status = SIGSEGV | 0x80;
	runs.flags = 0;
	add_record(killed);
	add_record(dumped);
	add_record(runs);
	row = finish_list(3);
	ck_assert_int_eq(row[0].signal, SIGTERM);
	ck_assert_int_eq(row[0].exit_code, -1);
	ck_assert_int_eq(row[1].signal, SIGSEGV);
	ck_assert_int_eq(row[1].exit_code, -1);
	ck_assert_int_eq(row[2].signal, 0);
	ck_assert_int_eq(row[2].exit_code, -1);
	ck_assert_uint_eq(row[2].end_realtime_ns, 0);
}
END_TEST

/* /proc shows a start in whole ticks, so earlier than the event. Either source may come first into
 * the list. */
START_TEST(record_and_member_of_one_process_make_one_row)
{
	const uint64_t exact_ns = 50 * S + 7 * MS + 123;
	const struct rt_command_process *row;

	if (_i)
		add_record(make_record(10, exact_ns, 60 * S));
	add_member(10, exact_ns, false);
	if (!_i)
		add_record(make_record(10, exact_ns, 60 * S));
	row = finish_list(1);
	ck_assert_uint_eq(row->flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row->start_realtime_ns, exact_ns + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row->valid, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row->partial, 0);
	ck_assert_uint_eq(row->cpu_user_ns, 21);
	ck_assert_uint_eq(row->read_bytes, 23);
	ck_assert_uint_eq(row->peak_rss_bytes, 8192);
	ck_assert_int_eq(row->ppid, 8); /* the process that forked it, not its current parent */
	ck_assert_str_eq(row->comm, "logged");
}
END_TEST

START_TEST(record_with_missing_figures_takes_them_from_the_member)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	record.flags = RTI_RECORD_HAS_IO;
	record.comm[0] = '\0';
	add_record(record);
	add_member(10, 50 * S, false);
	row = finish_list(1);
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

/* prctl(PR_SET_NAME, "") after the last sample. */
START_TEST(final_record_without_a_name_keeps_it)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);

	record.flags = RTI_RECORD_FINAL;
	record.comm[0] = '\0';
	add_record(record);
	add_member(10, 50 * S, false);
	ck_assert_str_eq(finish_list(1)->comm, "");
}
END_TEST

START_TEST(member_that_still_runs_is_marked_and_has_its_current_name)
{
	struct rti_process_record record = make_record(10, 50 * S, 0);
	const struct rt_command_process *row;

	record.flags = 0;
	add_record(record);
	add_member(10, 50 * S, true);
	add_member(11, 51 * S, true);
	row = finish_list(2);
	ck_assert_uint_eq(row[0].flags, RT_PROCESS_RUNNING);
	ck_assert_str_eq(row[0].comm, "sampled");
	ck_assert_int_eq(row[0].exit_code, -1);
	ck_assert_uint_eq(row[0].end_realtime_ns, 0);
	ck_assert_uint_eq(row[0].partial, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row[1].flags, RT_PROCESS_RUNNING);
}
END_TEST

START_TEST(member_that_exits_after_the_end_has_one_row)
{
	struct rti_member_row m = make_member(10, 50 * S);
	const struct rt_command_process *row;

	add_member(10, 50 * S, true);
	row = finish_list(1);
	rti_process_list_add_exited(&process_list, &m);
	ck_assert_uint_eq(process_list.count, 1);
	ck_assert_uint_eq(row[0].flags, RT_PROCESS_RUNNING);
}
END_TEST

START_TEST(pid_that_is_reused_makes_two_rows)
{
	const struct rt_command_process *row;

	add_record(make_record(10, 50 * S, 51 * S));
	add_record(make_record(10, 52 * S, 53 * S));
	add_member(10, 52 * S, false);
	add_member(10, 54 * S, false);
	row = finish_list(3);
	ck_assert_uint_eq(row[0].start_realtime_ns, 50 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[1].start_realtime_ns, 52 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[2].start_realtime_ns, 54 * S + REALTIME_AHEAD_NS);
	ck_assert_uint_eq(row[0].flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row[1].flags, RT_PROCESS_FINAL);
	ck_assert_uint_eq(row[2].flags, 0);
}
END_TEST

/* Two rows of one source are two processes, however close their starts are. */
START_TEST(rows_of_one_source_are_never_merged)
{
	add_record(make_record(10, 50 * S, 50 * S + 1));
	add_record(make_record(10, 50 * S + 2, 50 * S + 3));
	add_member(11, 50 * S, false);
	add_member(11, 50 * S + TICK_NS, false);
	finish_list(4);
}
END_TEST

START_TEST(rows_of_different_pids_are_not_merged)
{
	add_record(make_record(10, 50 * S, 51 * S));
	add_member(11, 50 * S, false);
	finish_list(2);
}
END_TEST

START_TEST(rows_with_starts_beyond_the_tolerance_are_not_merged)
{
	add_record(make_record(10, 50 * S + 40 * MS, 51 * S));
	add_member(10, 50 * S, false);
	add_record(make_record(11, 50 * S + 60 * MS, 51 * S));
	add_member(11, 50 * S, false);
	finish_list(3);
}
END_TEST

START_TEST(record_with_unknown_start_comes_first)
{
	const struct rt_command_process *row;

	add_record(make_record(10, 50 * S, 60 * S));
	add_record(make_record(11, 0, 60 * S));
	row = finish_list(2);
	ck_assert_int_eq(row[0].pid, 11);
	ck_assert_uint_eq(row[0].start_realtime_ns, 0);
	ck_assert_uint_eq(row[0].end_realtime_ns, 60 * S + REALTIME_AHEAD_NS);
	ck_assert_int_eq(row[1].pid, 10);
}
END_TEST

START_TEST(comm_of_full_length_is_terminated)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);

	memset(record.comm, 'x', sizeof(record.comm));
	add_record(record);
	ck_assert_str_eq(finish_list(1)->comm, "xxxxxxxxxxxxxxxx");
}
END_TEST

/* Starts are one permutation and pids another. Each process is in the list once, sorted by start,
 * whichever source it came from. */
START_TEST(many_processes_are_sorted_by_start)
{
	enum { MANY = 5003 }; /* a prime, so that the multiples of any number reach all residues */
	const struct rt_command_process *row;

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t start_ns = 10 * S + i * 1777 % MANY * 1000 * MS;
		int32_t pid = 1 + (int32_t)(i * 31 % MANY);

		if (i % 3 != 0)
			add_record(make_record(pid, start_ns + 3 * MS, start_ns + 500 * MS));
		if (i % 3 != 1)
			add_member(pid, start_ns + 3 * MS, false);
	}
	row = finish_list(MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t at = (row[i].start_realtime_ns - REALTIME_AHEAD_NS - 10 * S) / (1000 * MS);

		ck_assert_uint_eq(at, i);
		ck_assert_uint_eq(row[i].flags == 0 && row[i].partial == 0, 0);
	}
}
END_TEST

START_TEST(lower_bounds_of_record_and_member_make_the_larger_one)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	record.flags = RTI_RECORD_HAS_CPU | RTI_RECORD_HAS_PEAK | RTI_RECORD_PEAK_LOW;
	record.peak_rss_bytes = 1024;
	add_record(record);
	add_member(10, 50 * S, false);
	record.pid = 11;
	record.cpu_user_ns = record.cpu_system_ns = 1;
	record.peak_rss_bytes = 8192;
	add_record(record);
	add_member(11, 50 * S, false);
	row = finish_list(2);
	ck_assert_uint_eq(row[0].valid, 0);
	ck_assert_uint_eq(row[0].partial, RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO);
	ck_assert_uint_eq(row[0].cpu_user_ns + row[0].cpu_system_ns, 21 + 22);
	ck_assert_uint_eq(row[0].peak_rss_bytes, 4096);
	ck_assert_uint_eq(row[1].cpu_user_ns + row[1].cpu_system_ns, 11 + 12);
	ck_assert_uint_eq(row[1].peak_rss_bytes, 8192);
}
END_TEST

START_TEST(own_io_has_a_flag_of_its_own)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);
	const struct rt_command_process *row;

	record.own_read_bytes = 5;
	record.own_write_bytes = 6;
	add_record(record);
	record.pid = 11;
	record.flags |= RTI_RECORD_HAS_OWN_IO;
	add_record(record);
	row = finish_list(2);
	ck_assert_uint_eq(row[0].flags & RT_PROCESS_OWN_IO, 0);
	ck_assert_uint_eq(row[0].own_read_bytes + row[0].own_write_bytes, 0);
	ck_assert_uint_eq(row[1].flags & RT_PROCESS_OWN_IO, RT_PROCESS_OWN_IO);
	ck_assert_uint_eq(row[1].own_read_bytes, 5);
	ck_assert_uint_eq(row[1].own_write_bytes, 6);
}
END_TEST

/* Three processes: one is final, the CPU clock of one was read 1 ms before its end, that of one
 * 3 ms before. */
static void add_exiting(void)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);

	record.cpu_user_ns = record.cpu_system_ns = 10 * MS;
	add_record(record);
	record.flags = RTI_RECORD_HAS_CPU;
	record.pid = 11;
	record.cpu_read_ns = record.end_ns - 1 * MS;
	add_record(record);
	record.pid = 12;
	record.cpu_read_ns = record.end_ns - 3 * MS;
	add_record(record);
}

START_TEST(lack_is_shared_by_how_long_processes_ran_on)
{
	const struct rt_command_process *row;

	add_exiting();
	rti_process_list_fit_cpu(&process_list, 62 * MS);
	row = finish_list(3);
	ck_assert_uint_eq(row[0].cpu_system_ns, 10 * MS);
	ck_assert_uint_eq(row[0].valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(row[0].estimated, 0);
	for (int i = 1; i < 3; i++) {
		ck_assert_uint_eq(row[i].estimated, RT_HAS_CPU);
		ck_assert_uint_eq(row[i].partial & RT_HAS_CPU, 0);
		ck_assert_uint_eq(row[i].cpu_user_ns, 10 * MS);
	}
	/* A tick of 10 ms, what came after the reading, and 0.1 ms: 11.1 and 13.1 ms. */
	ck_assert_uint_eq(row[1].cpu_system_ns, 10 * MS + 2 * MS * 111 / 242);
	ck_assert_uint_eq(row[2].cpu_system_ns, 10 * MS + 2 * MS * 131 / 242);
}
END_TEST

/* More than the processes can have used, less than they have, or one that may still run. */
START_TEST(lack_that_is_not_explained_is_not_shared)
{
	static const uint64_t totals[] = { 59 * MS, 60 * MS, 85 * MS, 62 * MS };
	struct rti_process_record record = make_record(13, 50 * S, 60 * S);
	const struct rt_command_process *row;

	add_exiting();
	if (totals[_i] == 62 * MS) {
		record.flags = 0;
		add_record(record);
	}
	rti_process_list_fit_cpu(&process_list, totals[_i]);
	row = finish_list(totals[_i] == 62 * MS ? 4 : 3);
	for (int i = 1; i < 3; i++) {
		ck_assert_uint_eq(row[i].estimated, 0);
		ck_assert_uint_eq(row[i].partial & RT_HAS_CPU, RT_HAS_CPU);
		ck_assert_uint_eq(row[i].cpu_system_ns, 10 * MS);
	}
}
END_TEST

/* Two final processes, the second with so many threads that have ended. */
static void add_threaded(uint32_t threads)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);

	record.cpu_user_ns = record.cpu_system_ns = 100 * MS;
	add_record(record);
	record.pid = 11;
	record.threads_ended = threads;
	add_record(record);
}

START_TEST(lack_is_shared_among_processes_with_threads_that_ended)
{
	const struct rt_command_process *row;

	add_threaded(3000);
	rti_process_list_fit_cpu(&process_list, 409 * MS);
	row = finish_list(2);
	ck_assert_uint_eq(row[0].valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(row[0].cpu_system_ns, 100 * MS);
	ck_assert_uint_eq(row[1].estimated, RT_HAS_CPU);
	ck_assert_uint_eq((row[1].valid | row[1].partial) & RT_HAS_CPU, 0);
	ck_assert_uint_eq(row[1].cpu_system_ns, 109 * MS);
	ck_assert_uint_eq(row[1].cpu_user_ns, 100 * MS);
}
END_TEST

/* 0.1 ms of 400 ms are noise, and so are 2 ms without a cause. 9 ms without one are not. */
START_TEST(final_rows_are_lower_bounds_if_much_is_missing)
{
	static const struct {
		uint32_t threads;
		uint64_t lack_ns;
		bool is_low;
	} cases[] = { { 3000, MS / 10, false },
		      { 0, 2 * MS, false },
		      { 0, 9 * MS, true },
		      { 80, 9 * MS, true } };
	const struct rt_command_process *row;

	add_threaded(cases[_i].threads);
	rti_process_list_fit_cpu(&process_list, 400 * MS + cases[_i].lack_ns);
	row = finish_list(2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq((row[i].valid & RT_HAS_CPU) != 0, !cases[_i].is_low);
		ck_assert_int_eq((row[i].partial & RT_HAS_CPU) != 0, cases[_i].is_low);
		ck_assert_uint_eq(row[i].estimated, 0);
		ck_assert_uint_eq(row[i].cpu_system_ns, 100 * MS);
	}
}
END_TEST

/* Two processes wrote 5000 and 3000 bytes themselves, and one has 7000 with its children. */
START_TEST(io_is_at_least_what_the_rows_prove)
{
	struct rti_process_record record = make_record(10, 50 * S, 60 * S);
	uint64_t read_bytes = 100, write_bytes = 100;

	record.flags |= RTI_RECORD_HAS_OWN_IO;
	record.own_read_bytes = 10;
	record.own_write_bytes = 5000;
	add_record(record);
	record.pid = 11;
	record.flags |= RTI_RECORD_HAS_IO;
	record.own_write_bytes = 3000;
	record.read_bytes = 0;
	record.write_bytes = 7000;
	add_record(record);

	rti_process_list_raise_io(&process_list, &read_bytes, &write_bytes);
	ck_assert_uint_eq(read_bytes, 100);
	ck_assert_uint_eq(write_bytes, 8000);

	record.pid = 12;
	record.flags &= ~RTI_RECORD_HAS_OWN_IO;
	record.write_bytes = 9000;
	add_record(record);
	rti_process_list_raise_io(&process_list, &read_bytes, &write_bytes);
	ck_assert_uint_eq(write_bytes, 9000);
}
END_TEST

static void check_text(size_t row, uint32_t text, const char *expected)
{
	size_t len;
	const char *at = rti_process_list_text(&process_list, row, text, &len);

	ck_assert_uint_eq(len, strlen(expected));
	if (len)
		ck_assert_mem_eq(at, expected, len);
	else
		ck_assert_ptr_null(at);
}

START_TEST(texts_stay_with_their_rows)
{
	struct rti_process_record records[] = { make_record(10, 52 * S, 60 * S),
		                                make_record(11, 51 * S, 60 * S),
		                                make_record(12, 50 * S, 60 * S) };
	struct rti_process_records all = { .records = records,
		                           .count = 3,
		                           .texts = "ls/dirmake",
		                           .text_bytes = 10,
		                           .sees_every_exec = true };
	const struct rt_command_process *row;

	records[0].command = (struct rti_record_text){ 0, 2 };
	records[0].cwd = (struct rti_record_text){ 2, 4 };
	records[0].flags |= RTI_RECORD_EXECUTED | RTI_RECORD_TEXT_CUT;
	records[1].command = (struct rti_record_text){ 6, 4 };
	records[2].command = (struct rti_record_text){ 6, 5 }; /* beyond the end */
	records[1].cwd = (struct rti_record_text){ 0, 11 };
	records[2].cwd = (struct rti_record_text){ UINT32_MAX, 1 };
	records[2].flags |= RTI_RECORD_EXECUTED | RTI_RECORD_TEXT_SKIPPED;
	rti_process_list_add_records(&process_list, &all, &now);
	add_member(10, 52 * S, false);
	row = finish_list(3);
	ck_assert_int_eq(row[0].pid, 12);
	ck_assert_uint_eq(row[0].flags & (RT_PROCESS_CUT | RT_PROCESS_NO_EXEC), RT_PROCESS_CUT);
	check_text(0, RT_TEXT_COMMAND_LINE, "");
	check_text(0, RT_TEXT_CWD, "");
	ck_assert_uint_eq(row[1].flags & (RT_PROCESS_CUT | RT_PROCESS_NO_EXEC), RT_PROCESS_NO_EXEC);
	ck_assert_uint_eq(row[1].command_line_bytes, 4);
	check_text(1, RT_TEXT_COMMAND_LINE, "make");
	check_text(1, RT_TEXT_CWD, "");
	ck_assert_uint_eq(row[2].flags & (RT_PROCESS_CUT | RT_PROCESS_NO_EXEC), RT_PROCESS_CUT);
	ck_assert_uint_eq(row[2].cwd_bytes, 4);
	check_text(2, RT_TEXT_COMMAND_LINE, "ls");
	check_text(2, RT_TEXT_CWD, "/dir");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_list");
	TCase *rows = suite_case(suite, "rows"), *merges = suite_case(suite, "merges");

	tcase_add_checked_fixture(rows, set_up, tear_down);
	tcase_add_checked_fixture(merges, set_up, tear_down);
	tcase_add_test(rows, list_without_rows_stays_empty);
	tcase_add_test(rows, member_seen_by_samples_only_is_a_lower_bound);
	tcase_add_test(rows, member_with_unread_figures_lacks_their_bits);
	tcase_add_test(rows, record_of_the_supervisor_is_final);
	tcase_add_test(rows, record_without_flags_has_no_figures);
	tcase_add_test(rows, records_of_killed_dumped_and_running_processes_differ);
	tcase_add_test(rows, comm_of_full_length_is_terminated);
	tcase_add_loop_test(merges, record_and_member_of_one_process_make_one_row, 0, 2);
	tcase_add_test(merges, record_with_missing_figures_takes_them_from_the_member);
	tcase_add_test(merges, final_record_without_a_name_keeps_it);
	tcase_add_test(merges, member_that_still_runs_is_marked_and_has_its_current_name);
	tcase_add_test(merges, member_that_exits_after_the_end_has_one_row);
	tcase_add_test(merges, pid_that_is_reused_makes_two_rows);
	tcase_add_test(merges, rows_of_one_source_are_never_merged);
	tcase_add_test(merges, rows_of_different_pids_are_not_merged);
	tcase_add_test(merges, rows_with_starts_beyond_the_tolerance_are_not_merged);
	tcase_add_test(merges, record_with_unknown_start_comes_first);
	tcase_add_test(merges, many_processes_are_sorted_by_start);
	tcase_add_test(rows, own_io_has_a_flag_of_its_own);
	tcase_add_test(rows, texts_stay_with_their_rows);
	tcase_add_test(merges, lower_bounds_of_record_and_member_make_the_larger_one);
	tcase_add_test(merges, lack_is_shared_by_how_long_processes_ran_on);
	tcase_add_loop_test(merges, lack_that_is_not_explained_is_not_shared, 0, 4);
	tcase_add_test(merges, io_is_at_least_what_the_rows_prove);
	tcase_add_test(merges, lack_is_shared_among_processes_with_threads_that_ended);
	tcase_add_loop_test(merges, final_rows_are_lower_bounds_if_much_is_missing, 0, 4);
	return suite_run(suite);
}
