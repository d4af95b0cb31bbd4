/* SPDX-License-Identifier: MIT */
/* The events of a trace by ptrace(2), compared with what the traced program has logged itself. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "fixture.h"
#include "suite.h"
#include "traces.h"

#define LARGE_RING (64u << 20)

static const struct rt_trace_opts large = { .ring_bytes = LARGE_RING };

static void trace_to_end(struct trace *trace, const char *variant, const char *what,
                         const char *count, struct rt_trace_opts opts)
{
	struct rt_outcome outcome;

	trace_program(trace, variant, what, count, opts);
	read_trace(trace);
	ck_assert_int_eq(trace->end, -ESRCH);
	outcome = finish_trace(trace);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_int_eq(outcome.signal, 0);
}

static struct rt_trace_totals totals_of(const struct trace *trace)
{
	struct rt_trace_totals totals;

	ck_assert_int_eq(rt_trace_get_totals(trace->trace, &totals, sizeof(totals)), 0);
	return totals;
}

static void check_program(const char *variant, const char *what, const char *count)
{
	struct trace trace;

	trace_to_end(&trace, variant, what, count, large);

	ck_assert_uint_gt(trace.event_count, 0);
	check_events(&trace);
	ck_assert_uint_eq(totals_of(&trace).lost, 0);
	ck_assert_uint_eq(totals_of(&trace).read, trace.event_count);
	ck_assert_uint_eq(totals_of(&trace).threads, 0);
	ck_assert_uint_eq(totals_of(&trace).back_end, RT_TRACE_BACK_END_PTRACE);
	free_trace(&trace);
}

START_TEST(calls_with_any_arguments_are_as_the_program_made_them)
{
	check_program("", "calls", "100000");
}
END_TEST

static const struct {
	const char *variant, *what, *count;
} programs[] = {
	{ "", "threads", "2000" },         { "", "processes", "2000" },
	{ "", "short_lived", "200" },      { "", "vfork", "20" },
	{ "", "exec_from_thread", "500" }, { "static", "calls", "2000" },
	{ "static", "processes", "500" },  { "32", "calls", "2000" },
	{ "32", "threads", "500" },        { "32", "exec_from_thread", "500" },
};

START_TEST(calls_of_any_program_are_as_the_program_made_them)
{
	if (has_variant(programs[_i].variant))
		check_program(programs[_i].variant, programs[_i].what, programs[_i].count);
	else
		suite_skip_test("this variant of the program cannot be built here");
}
END_TEST

START_TEST(calls_that_find_the_ring_full_are_counted)
{
	struct rt_trace_totals totals;
	struct trace trace;

	trace_program(&trace, "", "processes", "2000", (struct rt_trace_opts){ .ring_bytes = 1 });
	finish_trace(&trace); /* without reading */
	read_trace(&trace);

	totals = totals_of(&trace);
	ck_assert_uint_gt(totals.lost, 0);
	ck_assert_uint_gt(trace.event_count, 0);
	ck_assert_uint_eq(totals.read + totals.lost, trace.log->count);
	free_trace(&trace);
}
END_TEST

START_TEST(program_alone_is_traced_without_its_children)
{
	struct rt_trace_opts opts = large;
	struct trace trace;
	int32_t pid;

	opts.flags = RT_TRACE_OPT_NO_CHILDREN;
	trace_program(&trace, "", "processes", "100", opts);
	pid = rt_command_pid(rt_trace_command(trace.trace));
	read_trace(&trace);

	ck_assert_uint_eq(trace.event_count, 100);
	ck_assert_uint_eq(trace.log->count, 500); /* the children's calls did not fail */
	for (size_t i = 0; i < trace.event_count; i++)
		ck_assert_int_eq(trace.events[i].pid, pid);
	ck_assert_uint_eq(totals_of(&trace).lost, 0);
	free_trace(&trace);
}
END_TEST

START_TEST(filter_of_the_program_acts_as_without_a_trace)
{
	struct trace trace;

	trace_to_end(&trace, "", "filter", "70", large);

	check_events(&trace);
	ck_assert_int_eq(trace.log->values[0], 0);
	ck_assert_int_eq(trace.log->values[1], EACCES);
	ck_assert_int_eq(trace.log->values[2], ENOSYS);
	free_trace(&trace);
}
END_TEST

START_TEST(signals_arrive_with_their_information)
{
	struct trace trace;
	int32_t pid;

	trace_program(&trace, "", "signals", "100", large);
	pid = rt_command_pid(rt_trace_command(trace.trace));
	read_trace(&trace);

	check_events(&trace);
	ck_assert_int_eq(trace.log->values[0], 100);
	ck_assert_int_eq(trace.log->values[1], SIGTRAP);
	ck_assert_int_eq(trace.log->values[2], SI_QUEUE);
	ck_assert_int_eq(trace.log->values[3], pid);
	ck_assert_int_eq(trace.log->values[4], 99);
	free_trace(&trace);
}
END_TEST

START_TEST(parent_sees_children_stop_continue_and_exit)
{
	struct trace trace;

	trace_to_end(&trace, "", "stops", "20", large);

	check_events(&trace);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(trace.log->values[i], 20);
	free_trace(&trace);
}
END_TEST

static uint64_t inode_of(const char *path)
{
	struct stat file;

	ck_assert_int_eq(stat(path, &file), 0);
	return file.st_ino;
}

START_TEST(event_names_its_thread_and_program)
{
	const char *argv[] = { "bash", "-c", "times >/dev/null", NULL };
	struct rt_trace_event *event;
	struct trace trace;

	ck_assert_int_eq(trace_argv(&trace, argv, large), 0);
	read_trace(&trace);

	ck_assert_uint_gt(trace.event_count, 0);
	event = &trace.events[0];
	ck_assert_int_eq(event->pid, rt_command_pid(rt_trace_command(trace.trace)));
	ck_assert_int_eq(event->tid, event->pid);
	ck_assert_int_gt(event->ppid, 0);
	ck_assert_uint_eq(event->uid, getuid());
	ck_assert_str_eq(event->comm, "bash");
	ck_assert_uint_eq(event->mount_namespace, inode_of("/proc/self/ns/mnt"));
	ck_assert_uint_eq(event->pid_namespace, inode_of("/proc/self/ns/pid"));
	ck_assert_uint_gt(event->thread_start_ns, 0);
	ck_assert_uint_gt(event->monotonic_ns, 0);
	ck_assert_uint_gt(event->duration_ns, 0);
	free_trace(&trace);
}
END_TEST

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

START_TEST(event_after_exec_has_the_new_program)
{
	static const char script[] =
	    "times >/dev/null; cp /bin/bash \"$0\"; exec \"$0\" -c 'times >/dev/null'";
	struct fixture dir;
	struct trace trace;
	char copy[256];
	const char *argv[] = { "bash", "-c", script, copy, NULL };

	fixture_new(&dir);
	snprintf(copy, sizeof(copy), "%s/copy-of-bash", dir.root);
	ck_assert_int_eq(trace_argv(&trace, argv, large), 0);
	read_trace(&trace);
	fixture_free(&dir);

	ck_assert_uint_eq(trace.event_count, 4);
	/* A path is unknown if the process has gone on before the event was read. */
	ck_assert(!*trace.events[0].exe || ends_in(trace.events[0].exe, "/bash"));
	ck_assert_str_eq(trace.events[0].comm, "bash");
	ck_assert_str_eq(trace.events[3].comm, "copy-of-bash");
	ck_assert(!ends_in(trace.events[3].exe, "/bash"));
	free_trace(&trace);
}
END_TEST

/* Returns whether the descriptor is readable within 100 ms. */
static bool is_readable(const struct trace *trace)
{
	struct pollfd events = { .fd = rt_trace_fd(trace->trace), .events = POLLIN };

	return poll(&events, 1, 100) == 1;
}

static size_t read_some(struct trace *trace)
{
	struct rt_trace_event events[8];
	size_t count = 8;

	trace->end = rt_trace_read(trace->trace, events, sizeof(events[0]), &count);
	return count;
}

START_TEST(descriptor_is_readable_only_if_there_is_something_to_read)
{
	struct trace trace;
	int wakes = 0;

	trace_program(&trace, "", "wait", "0", large);
	while (!is_readable(&trace))
		;
	ck_assert_uint_eq(read_some(&trace), 1);
	while (is_readable(&trace)) {
		wakes++;
		ck_assert_uint_eq(read_some(&trace), 0);
		ck_assert_int_eq(trace.end, 0);
	}
	ck_assert_int_le(wakes, 3); /* the timer, and nothing else */
	ck_assert_uint_gt(totals_of(&trace).threads, 0);

	ck_assert_int_eq(rt_command_signal(rt_trace_command(trace.trace), SIGKILL), 0);
	while (trace.end == 0) {
		while (!is_readable(&trace))
			;
		read_some(&trace);
	}
	ck_assert_int_eq(trace.end, -ESRCH);
	ck_assert(is_readable(&trace)); /* like the end of a pipe */
	free_trace(&trace);
}
END_TEST

/* The tracer reads a user id once, and again after a call that changes it. */
START_TEST(event_after_setuid_has_the_new_user)
{
	const char *argv[] = { "python3", "-c",
		               "import os, resource\n"
		               "resource.getrusage(resource.RUSAGE_SELF)\n"
		               "os.setreuid(65534, 0)\n"
		               "resource.getrusage(resource.RUSAGE_CHILDREN)\n",
		               NULL };
	struct trace trace;
	size_t n;

	if (getuid() != 0) {
		suite_skip_test("there is no other user to become");
		return;
	}
	ck_assert_int_eq(trace_argv(&trace, argv, large), 0);
	read_trace(&trace);

	n = trace.event_count;
	ck_assert_uint_ge(n, 2);
	ck_assert_int_eq(trace.events[n - 2].who, RT_RUSAGE_SELF);
	ck_assert_uint_eq(trace.events[n - 2].uid, 0);
	ck_assert_int_eq(trace.events[n - 1].who, RT_RUSAGE_CHILDREN);
	ck_assert_uint_eq(trace.events[n - 1].uid, 65534);
	free_trace(&trace);
}
END_TEST

/* A new pid namespace has its own number, and the events still have the numbers of ours. */
START_TEST(event_of_an_inner_pid_namespace_has_outer_pids)
{
	const char *argv[] = { "unshare", "-fp", "bash", "-c", "times >/dev/null", NULL };
	struct trace trace;

	ck_assert_int_eq(trace_argv(&trace, argv, large), 0);
	read_trace(&trace);
	if (finish_trace(&trace).exit_code != 0) {
		suite_skip_test("no pid namespace may be made here");
		return;
	}
	ck_assert_uint_gt(trace.event_count, 0);
	ck_assert_str_eq(trace.events[0].comm, "bash");
	ck_assert_int_gt(trace.events[0].pid, 1);
	ck_assert_int_eq(trace.events[0].ppid, rt_command_pid(rt_trace_command(trace.trace)));
	ck_assert_uint_ne(trace.events[0].pid_namespace, inode_of("/proc/self/ns/pid"));
	ck_assert_uint_eq(trace.events[0].mount_namespace, inode_of("/proc/self/ns/mnt"));
	free_trace(&trace);
}
END_TEST

/* Python has no call of waitid(2) that returns figures. The last one finds a child that runs. */
static const char waiter[] = "import ctypes, os, sys\n"
			     "call = ctypes.CDLL(None).syscall\n"
			     "waitid, exited, nohang = int(sys.argv[1]), 4, 1\n"
			     "usage = ctypes.create_string_buffer(144)\n"
			     "info = ctypes.create_string_buffer(128)\n"
			     "if os.fork() == 0: os._exit(3)\n"
			     "os.wait4(-1, 0)\n"
			     "if os.fork() == 0: os._exit(4)\n"
			     "call(waitid, 0, 0, info, exited, usage)\n"
			     "call(waitid, 0, 0, info, exited | nohang, usage)\n"
			     "pid = os.fork()\n"
			     "if pid == 0: os.read(os.pipe()[0], 1)\n"
			     "call(waitid, 0, 0, info, exited | nohang, usage)\n"
			     "os.kill(pid, 9)\n";

static void check_wait(const struct rt_trace_event *event, uint32_t options, int result,
                       uint32_t valid)
{
	ck_assert_uint_eq(event->call, RT_TRACE_CALL_WAITID);
	ck_assert_int_eq(event->who, P_ALL);
	ck_assert_uint_eq(event->wait_options, options);
	ck_assert_int_eq(event->result, result);
	ck_assert_uint_eq(event->rusage_valid, valid);
	ck_assert_uint_eq(event->flags, 0);
}

START_TEST(wait4_and_waitid_return_the_figures_of_a_child)
{
	char number[16];
	const char *argv[] = { "python3", "-c", waiter, number, NULL };
	struct rt_trace_opts opts = large;
	struct trace trace;

	snprintf(number, sizeof(number), "%d", SYS_waitid);
	opts.calls = RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID;
	ck_assert_int_eq(trace_argv(&trace, argv, opts), 0);
	read_trace(&trace);

	/* Another python3 may be a script that starts the real one. */
	ck_assert_uint_ge(trace.event_count, 4);
	while (trace.events->call != RT_TRACE_CALL_WAIT4 || trace.events->rusage_valid == 0) {
		ck_assert_uint_gt(trace.event_count, 4);
		trace.event_count--;
		memmove(trace.events, trace.events + 1, trace.event_count * sizeof(*trace.events));
	}
	ck_assert_int_gt(trace.events[0].result, 0);
	ck_assert_uint_eq(trace.events[0].rusage_valid, 0xffff);
	ck_assert_int_gt(trace.events[0].rusage.ru_minflt, 0);
	check_wait(&trace.events[1], WEXITED, 0, 0xffff);
	check_wait(&trace.events[2], WEXITED | WNOHANG, -ECHILD, 0);
	check_wait(&trace.events[3], WEXITED | WNOHANG, 0, 0);
	free_trace(&trace);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *calls, *effects;

	if (why_no_trace())
		return suite_skip(why_no_trace());
	suite = suite_create("ptrace_events");
	calls = suite_case(suite, "calls");
	effects = suite_case(suite, "effects");

	tcase_add_test(calls, calls_with_any_arguments_are_as_the_program_made_them);
	tcase_add_loop_test(calls, calls_of_any_program_are_as_the_program_made_them, 0,
	                    sizeof(programs) / sizeof(programs[0]));
	tcase_add_test(calls, calls_that_find_the_ring_full_are_counted);
	tcase_add_test(calls, program_alone_is_traced_without_its_children);
	tcase_add_test(calls, event_names_its_thread_and_program);
	tcase_add_test(calls, event_after_exec_has_the_new_program);
	tcase_add_test(calls, descriptor_is_readable_only_if_there_is_something_to_read);
	tcase_add_test(calls, event_after_setuid_has_the_new_user);
	tcase_add_test(calls, event_of_an_inner_pid_namespace_has_outer_pids);
	tcase_add_test(calls, wait4_and_waitid_return_the_figures_of_a_child);
	tcase_add_test(effects, filter_of_the_program_acts_as_without_a_trace);
	tcase_add_test(effects, signals_arrive_with_their_information);
	tcase_add_test(effects, parent_sees_children_stop_continue_and_exit);
	return suite_run(suite);
}
