/* SPDX-License-Identifier: MIT */
/* What a trace by BPF says of each call, beside what the program wrote down about it; and what one
 * by ptrace says of a hundred thousand, each of which stops the program. */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "refusals.h"
#include "suite.h"
#include "tracing.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* linux/sched.h; glibc has it since 2.36 */
#endif

#define LARGE_RING (64u << 20)

static uint32_t back_end; /* of the next trace; 0: BPF */

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
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING,
		                      .calls = calls,
		                      .back_end = back_end };
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

START_TEST(calls_by_ptrace_are_as_the_program_saw_them)
{
	struct rt_trace_totals totals;

	if (!has_ptrace()) {
		suite_skip_test("ptrace(2) is forbidden here");
		return;
	}
	back_end = RT_TRACE_BACK_END_PTRACE;
	totals = run_caller(caller_path, "alone", 1, 100000, 0);
	ck_assert_uint_eq(totals.read + totals.lost, 100000);
	ck_assert_uint_gt(totals.read, 10000);
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
	if (!*static_caller_path) {
		suite_skip_test("no program can be linked statically here");
		return;
	}
	run_caller(static_caller_path, "threads", 4, 5000, 0);
}
END_TEST

START_TEST(calls_of_a_32bit_program_are_as_it_saw_them)
{
	if (!*caller_32bit_path) {
		suite_skip_test("no program of 32 bits can be built or run here");
		return;
	}
	run_caller(caller_32bit_path, "threads", 4, 5000, 0);
	run_caller(caller_32bit_path, "processes", 20, 200, 0);
}
END_TEST

START_TEST(waits_are_as_the_program_saw_them)
{
	const uint32_t calls = RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID;

	ck_assert_uint_eq(run_caller(caller_path, "waits", 1, 7, calls).read, 7);
}
END_TEST

START_TEST(waits_of_a_32bit_program_are_as_it_saw_them)
{
	const uint32_t calls = RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID;

	if (!*caller_32bit_path) {
		suite_skip_test("no program of 32 bits can be built or run here");
		return;
	}
	ck_assert_uint_eq(run_caller(caller_32bit_path, "waits", 1, 7, calls).read, 7);
}
END_TEST

#define NOISE_NS 1000000u
#define AHEAD_NS 100000000000000u /* of the clocks in the namespace */

/* Returns false if there can be no time namespace. */
static bool enter_time_namespace(void)
{
	static const char offsets[] = "monotonic 100000 0\nboottime 100000 0";
	int fd;
	bool is_set;

	if (unshare(CLONE_NEWTIME) < 0)
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	is_set = fd >= 0 && write(fd, offsets, strlen(offsets)) == (ssize_t)strlen(offsets);
	close(fd);
	return is_set;
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(id, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In the namespace: exits with 0 if the times are those of its clocks. */
static void check_times(void)
{
	struct rt_trace_opts opts = { .pid = getpid() };
	uint64_t monotonic_ns, boottime_ns, realtime_ns;
	struct rt_trace_event event;
	struct rt_trace *trace;
	size_t count = 1;

	ck_assert_uint_gt(read_clock(CLOCK_MONOTONIC), AHEAD_NS);
	ck_assert_int_eq(start_trace(&trace, opts), 0);
	monotonic_ns = read_clock(CLOCK_MONOTONIC);
	boottime_ns = read_clock(CLOCK_BOOTTIME);
	realtime_ns = read_clock(CLOCK_REALTIME);
	syscall(SYS_getrusage, RUSAGE_SELF, NULL);
	ck_assert_int_eq(rt_trace_read(trace, &event, sizeof(event), &count), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_ge(event.monotonic_ns + NOISE_NS, monotonic_ns);
	ck_assert_uint_le(event.monotonic_ns, read_clock(CLOCK_MONOTONIC) + NOISE_NS);
	ck_assert_uint_ge(event.realtime_ns + NOISE_NS, realtime_ns);
	ck_assert_uint_le(event.realtime_ns, read_clock(CLOCK_REALTIME) + NOISE_NS);
	ck_assert_uint_le(event.thread_start_ns, boottime_ns);
	ck_assert_uint_gt(event.thread_start_ns, AHEAD_NS);
	rt_trace_free(trace);
}

START_TEST(times_are_those_of_the_readers_time_namespace)
{
	int status;
	pid_t pid;

	if (!enter_time_namespace())
		return;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		check_times();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
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
	tcase_add_test(calls, calls_by_ptrace_are_as_the_program_saw_them);
	tcase_add_test(calls, calls_of_many_threads_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_many_processes_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_short_processes_are_as_they_saw_them);
	tcase_add_test(calls, calls_of_orphans_are_as_they_saw_them);
	tcase_add_test(calls, calls_after_exec_by_another_thread_are_as_the_program_saw_them);
	tcase_add_test(calls, waits_are_as_the_program_saw_them);
	tcase_add_test(calls, times_are_those_of_the_readers_time_namespace);
	tcase_add_test(calls, calls_of_a_static_program_are_as_it_saw_them);
	tcase_add_test(calls, calls_of_a_32bit_program_are_as_it_saw_them);
	tcase_add_test(calls, waits_of_a_32bit_program_are_as_it_saw_them);
	return suite_run(suite);
}
