/* SPDX-License-Identifier: MIT */
/* What a trace by BPF says of each call, beside what the program wrote down about it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"
#include "tracing.h"

#define LARGE_RING (64u << 20)

struct check {
	struct logs logs;
	const char *exe; /* NULL: any */
	bool is_32bit;
};

static void check_call(void *arg, const struct rt_trace_event *event)
{
	struct check *check = arg;

	check_event(&check->logs, event);
	ck_assert_uint_eq(event->flags & RT_TRACE_EVENT_32BIT,
	                  check->is_32bit ? RT_TRACE_EVENT_32BIT : 0);
	ck_assert_uint_eq(event->flags & (RT_TRACE_EVENT_UNREAD | RT_TRACE_EVENT_NO_ENTRY), 0);
	ck_assert_uint_gt(event->duration_ns, 0);
	if (check->exe)
		ck_assert_str_eq(event->exe, check->exe);
}

/* Trace a caller from its start to its end. Each of its calls must be an event, or lost. */
static struct rt_trace_totals run_caller(const char *path, const char *how, uint64_t threads,
                                         uint64_t rows, uint32_t calls)
{
	char exe[PATH_MAX];
	struct check check = { .exe = realpath(path, exe), .is_32bit = path == caller_32bit_path };
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING, .calls = calls };
	struct caller_arguments arguments;
	struct rt_trace_totals totals;
	struct rt_trace *trace;

	open_logs(&check.logs, threads, rows);
	make_arguments(&arguments, path, how, &check.logs);
	trace = trace_command(opts, arguments.argv);
	read_to_end(trace, check_call, &check);
	totals = totals_of(trace);
	rt_trace_free(trace);
	ck_assert_uint_eq(totals.read + totals.lost, count_rows(&check.logs));
	ck_assert_uint_eq(totals.threads, 0);
	close_logs(&check.logs);
	return totals;
}

START_TEST(a_million_calls_are_as_the_program_saw_them)
{
	struct rt_trace_totals totals = run_caller(caller_path, "alone", 1, 1000000, 0);

	ck_assert_uint_eq(totals.read + totals.lost, 1000000);
	ck_assert_uint_gt(totals.read, 100000);
}
END_TEST

START_TEST(calls_of_many_threads_are_as_they_saw_them)
{
	run_caller(caller_path, "threads", 16, 10000, 0);
}
END_TEST

START_TEST(calls_of_many_processes_are_as_they_saw_them)
{
	run_caller(caller_path, "processes", 100, 1000, 0);
}
END_TEST

/* Most have ended by the time that their event is read. It has the path of their program still. */
START_TEST(calls_of_short_processes_are_as_they_saw_them)
{
	struct rt_trace_totals totals = run_caller(caller_path, "processes", 2000, 1, 0);

	ck_assert_uint_eq(totals.read, 2000);
}
END_TEST

START_TEST(calls_of_orphans_are_as_they_saw_them)
{
	run_caller(caller_path, "orphans", 20, 100, 0);
}
END_TEST

START_TEST(calls_after_exec_by_another_thread_are_as_the_program_saw_them)
{
	struct rt_trace_totals totals = run_caller(caller_path, "exec", 2, 1000, 0);

	ck_assert_uint_eq(totals.read, 2000);
}
END_TEST

START_TEST(calls_of_a_static_program_are_as_it_saw_them)
{
	run_caller(static_caller_path, "threads", 4, 5000, 0);
}
END_TEST

START_TEST(calls_of_a_32bit_program_are_as_it_saw_them)
{
	run_caller(caller_32bit_path, "threads", 4, 5000, 0);
	run_caller(caller_32bit_path, "processes", 20, 200, 0);
}
END_TEST

START_TEST(waits_are_as_the_program_saw_them)
{
	const uint32_t calls = RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID;

	ck_assert_uint_eq(run_caller(caller_path, "waits", 1, 7, calls).read, 7);
	if (*caller_32bit_path)
		ck_assert_uint_eq(run_caller(caller_32bit_path, "waits", 1, 7, calls).read, 7);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("trace_bpf_truth");
	TCase *calls = suite_case(suite, "calls");
	const char *why = why_no_bpf();

	if (why)
		return suite_skip(why);
	take_caller_paths(argc, argv);
	tcase_add_test(calls, a_million_calls_are_as_the_program_saw_them);
	tcase_add_test(calls, calls_of_many_threads_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_many_processes_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_short_processes_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_orphans_are_as_they_saw_them);
	tcase_add_test(calls, calls_after_exec_by_another_thread_are_as_the_program_saw_them);
	tcase_add_test(calls, waits_are_as_the_program_saw_them);
	if (*static_caller_path)
		tcase_add_test(calls, calls_of_a_static_program_are_as_it_saw_them);
	if (*caller_32bit_path)
		tcase_add_test(calls, calls_of_a_32bit_program_are_as_it_saw_them);
	return suite_run(suite);
}
