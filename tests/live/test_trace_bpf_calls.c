/* SPDX-License-Identifier: MIT */
/* Calls that a trace by BPF must not miss or must not report, and when it wakes the reader. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "fixture.h"
#include "refusals.h"
#include "suite.h"
#include "tracing.h"

#define LARGE_RING (16u << 20)
#define SMALL_RING 65536u
#define ROUNDS 20
/* A timer that is due makes a descriptor readable. An emulated machine has a slow one. */
#define AT_ONCE_MS 100

struct events {
	uint64_t count;
	struct rt_trace_event last;
};

static void keep_last(void *arg, const struct rt_trace_event *event)
{
	struct events *events = arg;

	events->last = *event;
	events->count++;
}

static bool is_readable(const struct rt_trace *trace, int timeout_ms)
{
	struct pollfd fd = { .fd = rt_trace_fd(trace), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static size_t read_at_most(struct rt_trace *trace, size_t most)
{
	static struct rt_trace_event events[EVENTS_MAX];
	size_t count = most;

	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
	return count;
}

static void call(int times)
{
	struct rusage usage;

	for (int i = 0; i < times; i++)
		syscall(SYS_getrusage, RUSAGE_SELF, &usage);
}

/* Events flow, so the next one need not wake the reader, and the wake-up of before is forgotten. */
static void let_events_flow(struct rt_trace *trace)
{
	call(1);
	wait_until_readable(trace);
	while (read_at_most(trace, EVENTS_MAX) > 0)
		;
	is_readable(trace, 0);
}

struct family {
	pid_t parent; /* waits for the child */
	pid_t child;  /* written by the parent */
};

static void wait_for_child(struct family *shared)
{
	struct rusage usage;
	pid_t child = fork();

	if (child < 0)
		_exit(1);
	if (child == 0) {
		for (;;)
			pause();
	}
	__atomic_store_n(&shared->child, child, __ATOMIC_SEQ_CST);
	syscall(SYS_wait4, child, NULL, 0, &usage);
	_exit(0);
}

static int is_waiting(void *arg)
{
	const struct family *family = arg;

	return __atomic_load_n(&family->child, __ATOMIC_SEQ_CST) > 0 &&
	       thread_state(family->parent, family->parent) == 'S';
}

/* Its entry is unknown, and so is how long it took. */
START_TEST(wait_that_began_before_the_trace_is_an_event)
{
	struct logs memory;
	struct rt_trace_opts opts = { .calls = RT_TRACE_CALL_WAIT4 };
	struct events events = { 0 };
	struct rt_trace *trace;
	struct family *family;

	open_logs(&memory, 1, 1); /* used as memory that is shared */
	family = (void *)memory.memory;
	opts.pid = fork();
	ck_assert_int_ge(opts.pid, 0);
	if (opts.pid == 0)
		wait_for_child(family);
	family->parent = opts.pid;
	wait_until(is_waiting, family);
	ck_assert_int_eq(start_trace(&trace, opts), 0);

	kill_process(family->child, SIGKILL);
	read_to_end(trace, keep_last, &events);

	ck_assert_uint_eq(events.count, 1);
	ck_assert_uint_eq(events.last.flags, RT_TRACE_EVENT_NO_ENTRY);
	ck_assert_int_eq(events.last.result, family->child);
	ck_assert_uint_eq(events.last.rusage_valid, 0xffff);
	ck_assert_uint_eq(events.last.duration_ns, 0);
	ck_assert_uint_gt(events.last.monotonic_ns, 0);
	rt_trace_free(trace);
	ck_assert_int_eq(waitpid(opts.pid, NULL, 0), opts.pid);
	close_logs(&memory);
}
END_TEST

static void call_with_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	call(10);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(1);
	call(10);
	_exit(0);
}

/* The kernel makes up the result of a call that it never makes. */
START_TEST(call_that_a_filter_refuses_is_no_event_of_the_machine)
{
	static struct rt_trace_event events[EVENTS_MAX];
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL, .ring_bytes = LARGE_RING };
	struct rt_trace *trace;
	uint64_t seen = 0;
	size_t count;
	int status;
	pid_t pid;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		call_with_filter();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	do {
		count = EVENTS_MAX;
		ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
		for (size_t i = 0; i < count; i++)
			seen += events[i].pid == pid;
	} while (count > 0);
	ck_assert_uint_eq(totals_of(trace).lost, 0);
	ck_assert_uint_eq(seen, 10);
	rt_trace_free(trace);
}
END_TEST

START_TEST(fork_of_the_host_after_the_start_is_not_traced)
{
	static const char *const argv[] = { "true", NULL };
	struct rt_trace *trace = trace_command((struct rt_trace_opts){ 0 }, argv);
	struct events events = { 0 };
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		call(10);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	read_to_end(trace, keep_last, &events);
	ck_assert_uint_eq(events.count, 0);
	rt_trace_free(trace);
}
END_TEST

/* The timer would wait 50 ms. A quarter is some 50 events. */
START_TEST(quarter_of_the_ring_wakes_the_reader_at_once)
{
	struct rt_trace_opts opts = { .pid = getpid(), .ring_bytes = SMALL_RING };
	struct rt_trace *trace;
	int at_once = 0;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	for (int i = 0; i < ROUNDS; i++) {
		let_events_flow(trace);
		call(100);
		at_once += is_readable(trace, 5);
		wait_until_readable(trace);
		while (read_at_most(trace, EVENTS_MAX) > 0)
			;
	}
	ck_assert_uint_eq(totals_of(trace).lost, 0);
	ck_assert_int_ge(at_once, ROUNDS / 2);
	rt_trace_free(trace);
}
END_TEST

/* Also if they came without a wake-up. */
START_TEST(events_that_were_left_keep_the_descriptor_readable)
{
	struct rt_trace_opts opts = { .pid = getpid() };
	struct rt_trace *trace;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	for (int i = 0; i < ROUNDS; i++) {
		let_events_flow(trace);
		call(3);
		for (size_t left = 3; left > 0; left--) {
			ck_assert_uint_eq(read_at_most(trace, 1), 1);
			if (left > 1)
				ck_assert(is_readable(trace, AT_ONCE_MS));
		}
	}
	rt_trace_free(trace);
}
END_TEST

START_TEST(trace_that_is_over_stays_readable)
{
	static const char *const argv[] = { "true", NULL };
	struct rt_trace *trace = trace_command((struct rt_trace_opts){ 0 }, argv);
	struct rt_trace_event event;
	struct events events = { 0 };
	size_t count;

	read_to_end(trace, keep_last, &events);
	for (int i = 0; i < 3; i++) {
		ck_assert(is_readable(trace, AT_ONCE_MS));
		count = 1;
		ck_assert_int_eq(rt_trace_read(trace, &event, sizeof(event), &count), -ESRCH);
	}
	rt_trace_free(trace);
}
END_TEST

static void copy_program(const char *to)
{
	char command[8192];

	snprintf(command, sizeof(command), "cp %s %s", caller_path, to);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(chmod(to, 0755), 0);
}

#define LEVELS 80 /* more than the BPF program follows */
#define LONG_NAME 140

/* Either all of a path, or nothing: one without its first directories would name another file. */
START_TEST(path_of_a_program_that_lies_deep_is_not_half_of_it)
{
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING };
	struct caller_arguments arguments;
	struct events events = { 0 };
	char below[512] = "d", path[1024];
	struct rt_trace *trace;
	struct fixture dir;
	struct logs logs;

	fixture_new(&dir);
	if (_i)
		memset(below, 'n', LONG_NAME);
	else
		for (int i = 1; i < LEVELS; i++)
			strcat(below, "/d");
	fixture_mkdir(&dir, below);
	snprintf(path, sizeof(path), "%s/%s/caller", dir.root, below);
	copy_program(path);
	open_logs(&logs, 50, 1);
	make_arguments(&arguments, path, "processes", &logs);
	trace = trace_command(opts, arguments.argv);
	read_to_end(trace, keep_last, &events);
	ck_assert_uint_eq(events.count, 50);
	ck_assert_msg(!*events.last.exe || strcmp(events.last.exe, path) == 0, "%s",
	              events.last.exe);
	rt_trace_free(trace);
	close_logs(&logs);
	fixture_free(&dir);
}
END_TEST

static void trace_in_another_root(const char *root)
{
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING };
	struct caller_arguments arguments;
	struct events events = { 0 };
	struct rt_trace *trace;
	struct logs logs;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("/", root, NULL, MS_BIND | MS_REC, NULL) < 0 || chroot(root) < 0 ||
	    chdir("/") < 0)
		_exit(77);
	open_logs(&logs, 1, 100);
	make_arguments(&arguments, caller_path, "alone", &logs);
	trace = trace_command(opts, arguments.argv);
	read_to_end(trace, keep_last, &events);
	ck_assert_uint_eq(events.count, 100);
	ck_assert_str_eq(events.last.exe, caller_path);
	rt_trace_free(trace);
	_exit(0);
}

/* As /proc/PID/exe: in the root of the host, which need not be that of the machine. */
START_TEST(path_of_a_program_begins_at_the_root_of_the_host)
{
	struct fixture dir;
	int status;
	pid_t pid;

	fixture_new(&dir);
	pid = fork();
	if (pid == 0)
		trace_in_another_root(dir.root);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("no directory may be made the root here");
	else
		ck_assert_int_eq(status, 0);
	fixture_free(&dir);
}
END_TEST

/* The kernel marks it, and so must a trace. It is unknown if the process has ended. */
START_TEST(path_of_a_deleted_program_is_marked_or_unknown)
{
	const char *argv[9] = { "sh", "-c",
		                "exec 9<\"$0\"; rm \"$0\"; exec /proc/self/fd/9 \"$@\"" };
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING };
	struct caller_arguments arguments;
	struct events events = { 0 };
	char path[256], marked[300];
	struct rt_trace *trace;
	struct fixture dir;
	struct logs logs;

	fixture_new(&dir);
	snprintf(path, sizeof(path), "%s/caller", dir.root);
	snprintf(marked, sizeof(marked), "%s (deleted)", path);
	copy_program(path);
	open_logs(&logs, 1, 100);
	make_arguments(&arguments, path, "alone", &logs);
	memcpy(&argv[3], arguments.argv, sizeof(arguments.argv));
	trace = trace_command(opts, argv);
	read_to_end(trace, keep_last, &events);
	ck_assert_uint_eq(events.count, 100);
	if (*events.last.exe)
		ck_assert_str_eq(events.last.exe, marked);
	rt_trace_free(trace);
	close_logs(&logs);
	fixture_free(&dir);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("trace_bpf_calls");
	TCase *calls = suite_case(suite, "calls"), *reader = suite_case(suite, "reader");
	const char *why = why_no_bpf();

	if (why)
		return suite_skip(why);
	take_caller_paths(argc, argv);
	tcase_add_test(calls, wait_that_began_before_the_trace_is_an_event);
	tcase_add_test(calls, call_that_a_filter_refuses_is_no_event_of_the_machine);
	tcase_add_test(calls, fork_of_the_host_after_the_start_is_not_traced);
	tcase_add_loop_test(calls, path_of_a_program_that_lies_deep_is_not_half_of_it, 0, 2);
	tcase_add_test(calls, path_of_a_program_begins_at_the_root_of_the_host);
	tcase_add_test(calls, path_of_a_deleted_program_is_marked_or_unknown);
	tcase_add_test(reader, quarter_of_the_ring_wakes_the_reader_at_once);
	tcase_add_test(reader, events_that_were_left_keep_the_descriptor_readable);
	tcase_add_test(reader, trace_that_is_over_stays_readable);
	return suite_run(suite);
}
