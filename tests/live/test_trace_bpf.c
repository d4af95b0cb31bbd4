/* SPDX-License-Identifier: MIT */
/* Targets of a trace by BPF, lost events, its descriptor, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "tracing.h"

#define LARGE_RING (64u << 20)
#define SMALL_RING 65536u
#define TRIES 30000

static void check_one(void *arg, const struct rt_trace_event *event)
{
	check_event(arg, event);
}

static void count_one(void *arg, const struct rt_trace_event *event)
{
	(void)event;
	++*(uint64_t *)arg;
}

/* The ring is not read before all calls were made, so most are lost. */
START_TEST(lost_and_read_events_are_all_calls)
{
	struct rt_trace_opts opts = { .ring_bytes = SMALL_RING };
	struct caller_arguments arguments;
	struct rt_trace_totals totals;
	struct rt_trace *trace;
	struct logs logs;

	open_logs(&logs, 4, 50000);
	make_arguments(&arguments, caller_path, "threads", &logs);
	trace = trace_command(opts, arguments.argv);
	if (_i)
		ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	read_to_end(trace, check_one, &logs);
	totals = totals_of(trace);
	rt_trace_free(trace);
	ck_assert_uint_eq(count_rows(&logs), 200000);
	ck_assert_uint_eq(totals.read + totals.lost, 200000);
	if (_i)
		ck_assert_uint_gt(totals.lost, 190000);
	close_logs(&logs);
}
END_TEST

static pid_t start_caller(const struct caller_arguments *arguments, int stdin_fd)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (stdin_fd >= 0)
			dup2(stdin_fd, STDIN_FILENO);
		execv(arguments->argv[0], (char *const *)arguments->argv);
		_exit(127);
	}
	return pid;
}

static void wait_for_rows(const struct logs *logs, uint64_t rows)
{
	for (int i = 0; i < TRIES && count_rows(logs) < rows; i++)
		usleep(1000);
	ck_assert_uint_ge(count_rows(logs), rows);
}

/* Processes that run when the trace begins, and others that they fork at that moment. A call that
 * returns while rt_trace_new() runs may be traced or not. */
START_TEST(calls_of_a_running_tree_are_traced)
{
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING };
	struct caller_arguments arguments;
	struct rt_trace_totals totals;
	struct rt_trace *trace;
	uint64_t before, after;
	struct logs logs;

	open_logs(&logs, 300, 2000);
	logs.has_gaps = true;
	make_arguments(&arguments, caller_path, "chain", &logs);
	opts.pid = start_caller(&arguments, -1);
	wait_for_rows(&logs, 20000);
	before = count_rows(&logs);
	ck_assert_int_eq(start_trace(&trace, opts), 0);
	after = count_rows(&logs);
	__atomic_store_n(&((struct call_log *)(void *)logs.memory)->may_end, 1, __ATOMIC_RELEASE);
	read_to_end(trace, check_one, &logs);
	totals = totals_of(trace);
	rt_trace_free(trace);
	ck_assert_int_eq(waitpid(opts.pid, NULL, 0), opts.pid);
	ck_assert_uint_eq(count_rows(&logs), 600000);
	/* A thread writes the row of a call a little after the call. */
	ck_assert_uint_le(totals.read + totals.lost, 600000 - before);
	ck_assert_uint_ge(totals.read + totals.lost + logs.threads, 600000 - after);
	close_logs(&logs);
}
END_TEST

START_TEST(process_alone_is_traced_without_its_children)
{
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_NO_CHILDREN };
	struct caller_arguments arguments;
	struct rt_trace *trace;
	struct logs logs;
	uint64_t count = 0;

	open_logs(&logs, 4, 10);
	make_arguments(&arguments, caller_path, _i ? "threads" : "processes", &logs);
	trace = trace_command(opts, arguments.argv);
	read_to_end(trace, count_one, &count);
	rt_trace_free(trace);
	ck_assert_uint_eq(count_rows(&logs), 40);
	ck_assert_uint_eq(count, _i ? 40 : 0);
	close_logs(&logs);
}
END_TEST

START_TEST(trace_of_no_process_fails_with_esrch)
{
	struct rt_trace *trace;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(start_trace(&trace, (struct rt_trace_opts){ .pid = pid }), -ESRCH);
	ck_assert_ptr_null(trace);
}
END_TEST

#define MAGIC ((void *)0x123450)

struct magic_count {
	uint64_t events;
	pid_t pid;
};

static void count_magic(struct rt_trace *trace, struct magic_count *magic)
{
	static struct rt_trace_event events[EVENTS_MAX];
	size_t count;

	do {
		count = EVENTS_MAX;
		ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
		for (size_t i = 0; i < count; i++)
			if (events[i].usage_address == (uintptr_t)MAGIC &&
			    events[i].pid == magic->pid)
				magic->events++;
	} while (count > 0);
}

START_TEST(machine_target_has_calls_of_unrelated_processes)
{
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL, .ring_bytes = LARGE_RING };
	struct magic_count magic = { .events = 0 };
	struct rt_trace *trace;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	magic.pid = fork();
	if (magic.pid == 0) {
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getrusage, RUSAGE_SELF, MAGIC);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(magic.pid, NULL, 0), magic.pid);
	count_magic(trace, &magic);
	ck_assert_uint_eq(magic.events + (totals_of(trace).lost ? 1000 - magic.events : 0), 1000);
	ck_assert_uint_eq(totals_of(trace).threads, 0);
	rt_trace_free(trace);
}
END_TEST

static bool is_readable(const struct rt_trace *trace, int timeout_ms)
{
	struct pollfd fd = { .fd = rt_trace_fd(trace), .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static size_t read_all(struct rt_trace *trace)
{
	static struct rt_trace_event events[EVENTS_MAX];
	size_t count = EVENTS_MAX;

	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), &count), 0);
	return count;
}

/* Until nothing is due any more. */
static void fall_asleep(struct rt_trace *trace)
{
	int reads = 0;

	while (is_readable(trace, 300)) {
		read_all(trace);
		ck_assert_int_lt(reads++, 10);
	}
}

START_TEST(descriptor_is_readable_while_there_are_events)
{
	struct rt_trace_opts opts = { .pid = getpid() };
	static struct rt_trace_event event;
	struct rt_trace *trace;
	struct rusage usage;
	size_t count = 1;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	for (int i = 0; i < 3; i++) {
		fall_asleep(trace);
		getrusage(RUSAGE_SELF, &usage);
		getrusage(RUSAGE_SELF, &usage);
		getrusage(RUSAGE_SELF, &usage);
		wait_until_readable(trace);
		ck_assert(is_readable(trace, 0));
		ck_assert_int_eq(rt_trace_read(trace, &event, sizeof(event), &count), 0);
		ck_assert_uint_eq(count, 1);
		ck_assert(is_readable(trace, 0));
		ck_assert_uint_eq(read_all(trace), 2);
	}
	rt_trace_free(trace);
}
END_TEST

/* Live children are to be read at once. Any other event would wait up to 50 ms for the timer. */
START_TEST(call_for_children_wakes_the_reader_at_once)
{
	enum { ROUNDS = 20 };
	struct rt_trace_opts opts = { .pid = getpid(), .flags = RT_TRACE_OPT_LIVE_CHILDREN };
	struct rt_trace *trace;
	struct rusage usage;
	int at_once = 0;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	fall_asleep(trace);
	for (int i = 0; i < ROUNDS; i++) {
		/* Events flow: so the next one need not wake the reader. */
		getrusage(RUSAGE_SELF, &usage);
		wait_until_readable(trace);
		while (read_all(trace) > 0)
			;
		is_readable(trace, 0); /* so that the wake-up of before is forgotten */
		getrusage(RUSAGE_CHILDREN, &usage);
		at_once += is_readable(trace, 5);
		wait_until_readable(trace);
		read_all(trace);
	}
	ck_assert_int_ge(at_once, ROUNDS / 2);
	rt_trace_free(trace);
}
END_TEST

/* A wake-up for each event would make for thousands of them. */
START_TEST(reader_is_woken_less_often_than_events_happen)
{
	struct rt_trace_opts opts = { .ring_bytes = 1 << 20 };
	static struct rt_trace_event events[EVENTS_MAX];
	struct caller_arguments arguments;
	uint64_t wakes = 0, total = 0;
	struct rt_trace *trace;
	struct logs logs;
	int err;

	open_logs(&logs, 1, 100000);
	make_arguments(&arguments, caller_path, "alone", &logs);
	trace = trace_command(opts, arguments.argv);
	do {
		size_t count;

		wait_until_readable(trace);
		wakes++;
		do {
			count = EVENTS_MAX;
			err = rt_trace_read(trace, events, sizeof(events[0]), &count);
			total += count;
		} while (err == 0 && count > 0);
	} while (err == 0);
	ck_assert_int_eq(err, -ESRCH);
	ck_assert_uint_eq(total + totals_of(trace).lost, 100000);
	ck_assert_uint_lt(wakes, 5000);
	rt_trace_free(trace);
	close_logs(&logs);
}
END_TEST

START_TEST(forked_child_may_free_the_trace_and_not_read_it)
{
	struct rt_trace_opts opts = { .pid = getpid(), .flags = RT_TRACE_OPT_NO_CHILDREN };
	struct rt_trace *trace;
	struct rusage usage;
	int status;
	pid_t pid;

	ck_assert_int_eq(start_trace(&trace, opts), 0);
	fall_asleep(trace);
	pid = fork();
	if (pid == 0) {
		struct rt_trace_event event;
		size_t count = 1;
		int err = rt_trace_read(trace, &event, sizeof(event), &count);

		rt_trace_free(trace);
		_exit(err == -ECHILD ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	getrusage(RUSAGE_SELF, &usage);
	wait_until_readable(trace);
	ck_assert_uint_eq(read_all(trace), 1);
	rt_trace_free(trace);
}
END_TEST

struct seen_event {
	uint64_t count;
	struct rt_trace_event event;
};

static void keep_event(void *arg, const struct rt_trace_event *event)
{
	struct seen_event *seen = arg;

	seen->event = *event;
	seen->count++;
}

static uint64_t inode_of(pid_t pid, const char *file)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	ck_assert_int_eq(stat(path, &status), 0);
	return status.st_ino;
}

/* The start time of a process in clock ticks: field 22 of its stat. */
static uint64_t start_ticks_of(pid_t pid)
{
	char path[64], line[1024] = "";
	unsigned long long ticks = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	fclose(file);
	ck_assert_int_eq(sscanf(strrchr(line, ')'),
	                        ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
	                        "%*d %*d %*d %llu",
	                        &ticks),
	                 1);
	return ticks;
}

/* Until it has executed the caller. */
static void wait_for_program(pid_t pid)
{
	char path[64], exe[4096];
	ssize_t got = -1;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	for (int i = 0; i < TRIES; i++) {
		got = readlink(path, exe, sizeof(exe) - 1);
		exe[got > 0 ? got : 0] = '\0';
		if (strcmp(exe, caller_path) == 0)
			return;
		usleep(1000);
	}
	ck_abort_msg("process %d executes %s", pid, exe);
}

START_TEST(event_says_which_process_made_the_call)
{
	struct rt_trace_opts opts = { .flags = 0 };
	struct caller_arguments arguments;
	struct seen_event seen = { 0 };
	const struct rt_trace_event *event = &seen.event;
	const char *name = strrchr(caller_path, '/') + 1;
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct rt_trace *trace;
	uint64_t ticks;
	struct logs logs;
	int input[2];

	open_logs(&logs, 1, 1);
	make_arguments(&arguments, caller_path, "when_asked", &logs);
	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	opts.pid = start_caller(&arguments, input[0]);
	wait_for_program(opts.pid);
	ck_assert_int_eq(start_trace(&trace, opts), 0);
	ck_assert_uint_eq(totals_of(trace).threads, 1);
	ticks = start_ticks_of(opts.pid);
	ck_assert_int_eq(write(input[1], "x", 1), 1);
	read_to_end(trace, keep_event, &seen);
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_int_eq(event->pid, opts.pid);
	ck_assert_int_eq(event->tid, opts.pid);
	ck_assert_int_eq(event->ppid, getpid());
	ck_assert_uint_eq(event->uid, getuid());
	ck_assert_uint_eq(event->mount_namespace, inode_of(getpid(), "ns/mnt"));
	ck_assert_uint_eq(event->pid_namespace, inode_of(getpid(), "ns/pid"));
	ck_assert_uint_eq(event->thread_start_ns / (1000000000 / hz), ticks);
	ck_assert_int_eq(strncmp(event->comm, name, 15), 0);
	ck_assert_str_eq(event->exe, caller_path);
	rt_trace_free(trace);
	ck_assert_int_eq(waitpid(opts.pid, NULL, 0), opts.pid);
	close(input[0]);
	close(input[1]);
	close_logs(&logs);
}
END_TEST

static void trace_as_first_process(void)
{
	struct rt_trace_opts opts = { .ring_bytes = LARGE_RING };
	struct caller_arguments arguments;
	struct seen_event seen = { 0 };
	struct rt_trace *trace;
	struct logs logs;

	open_logs(&logs, 1, 100);
	make_arguments(&arguments, caller_path, "alone", &logs);
	trace = trace_command(opts, arguments.argv);
	read_to_end(trace, keep_event, &seen);
	ck_assert_uint_eq(seen.count, 100);
	ck_assert_int_eq(seen.event.pid, *(const int32_t *)logs.memory);
	ck_assert_int_lt(seen.event.pid, 10);
	ck_assert_int_gt(seen.event.host_pid, seen.event.pid);
	ck_assert_int_gt(seen.event.host_ppid, seen.event.ppid);
	ck_assert_int_gt(seen.event.ppid, 0);
	ck_assert_int_lt(seen.event.ppid, seen.event.pid);
	/* The end of the namespace would kill the supervisor before it has removed its cgroup. */
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	rt_trace_free(trace);
}

/* In namespaces of its own. */
static void trace_in_namespace(void)
{
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(77);
	trace_as_first_process();
	_exit(0);
}

START_TEST(pids_are_those_of_the_namespace_of_the_host)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(77);
		pid = fork();
		if (pid == 0)
			trace_in_namespace();
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
		                                                           : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("no pid namespace may be made here");
	else
		ck_assert_int_eq(status, 0);
}
END_TEST

static void check_foreign(void *arg, const struct rt_trace_event *event)
{
	ck_assert_uint_ne(event->pid_namespace, inode_of(getpid(), "ns/pid"));
	check_event(arg, event);
}

START_TEST(calls_in_a_pid_namespace_have_pids_of_the_host)
{
	struct rt_trace_opts opts = { .flags = 0 };
	struct caller_arguments arguments;
	const char *argv[9] = { "unshare", "--pid", "--fork" };
	struct rt_trace *trace;
	struct logs logs;

	open_logs(&logs, 1, 1000);
	logs.has_own_pids = true;
	make_arguments(&arguments, caller_path, "alone", &logs);
	memcpy(&argv[3], arguments.argv, sizeof(arguments.argv));
	trace = trace_command(opts, argv);
	read_to_end(trace, check_foreign, &logs);
	ck_assert_uint_eq(totals_of(trace).read, 1000);
	ck_assert_int_eq(*(const int32_t *)logs.memory, 1);
	rt_trace_free(trace);
	close_logs(&logs);
}
END_TEST

struct known_program {
	const char *script;
	uint32_t calls;
	uint64_t events;
	int32_t who;
};

/* What other programs are known to do. */
static const struct known_program known_programs[] = {
	{ "command -v python3 >/dev/null || exit 77; exec python3 -c 'import resource\n"
	  "for i in range(9): resource.getrusage(resource.RUSAGE_CHILDREN)'",
	  RT_TRACE_CALL_GETRUSAGE, 9, RUSAGE_CHILDREN },
	{ "command -v bash >/dev/null || exit 77; exec bash -c 'times; times' >/dev/null",
	  RT_TRACE_CALL_GETRUSAGE, 4, RUSAGE_CHILDREN },
	{ "test -x /usr/bin/time || exit 77; exec /usr/bin/time true 2>/dev/null",
	  RT_TRACE_CALL_WAIT4, 1, -1 },
};

START_TEST(calls_of_known_programs_are_traced)
{
	const struct known_program *known = &known_programs[_i];
	const char *const argv[] = { "sh", "-c", known->script, NULL };
	struct rt_trace_opts opts = { .calls = known->calls };
	struct rt_trace *trace = trace_command(opts, argv);
	struct seen_event seen = { 0 };
	struct rt_outcome outcome;

	read_to_end(trace, keep_event, &seen);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, &outcome, sizeof(outcome)),
	                 0);
	rt_trace_free(trace);
	if (outcome.exit_code == 77) {
		suite_skip_test("the program is not installed");
		return;
	}
	ck_assert_uint_eq(seen.count, known->events);
	ck_assert_uint_eq(seen.event.rusage_valid, 0xffff);
	ck_assert_int_eq(seen.event.who, known->who);
	if (known->calls == RT_TRACE_CALL_WAIT4)
		ck_assert_int_gt(seen.event.result, 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("trace_bpf");
	TCase *targets = suite_case(suite, "targets");
	TCase *reader = suite_case(suite, "reader");
	const char *why = why_no_bpf();

	if (why)
		return suite_skip(why);
	take_caller_paths(argc, argv);
	tcase_add_test(targets, calls_of_a_running_tree_are_traced);
	tcase_add_loop_test(targets, process_alone_is_traced_without_its_children, 0, 2);
	tcase_add_test(targets, trace_of_no_process_fails_with_esrch);
	tcase_add_test(targets, machine_target_has_calls_of_unrelated_processes);
	tcase_add_test(targets, event_says_which_process_made_the_call);
	tcase_add_test(targets, pids_are_those_of_the_namespace_of_the_host);
	tcase_add_test(targets, calls_in_a_pid_namespace_have_pids_of_the_host);
	tcase_add_loop_test(targets, calls_of_known_programs_are_traced, 0, 3);
	tcase_add_loop_test(reader, lost_and_read_events_are_all_calls, 0, 2);
	tcase_add_test(reader, descriptor_is_readable_while_there_are_events);
	tcase_add_test(reader, call_for_children_wakes_the_reader_at_once);
	tcase_add_test(reader, reader_is_woken_less_often_than_events_happen);
	tcase_add_test(reader, forked_child_may_free_the_trace_and_not_read_it);
	return suite_run(suite);
}
