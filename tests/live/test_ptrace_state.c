/* SPDX-License-Identifier: MIT */
/* What the tracer knows of threads, what it is itself, and when it wakes the reader. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "traces.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* include/linux/proc_ns.h */
#define TEXT_MAX 4096
#define SEAL_FUTURE_WRITE 0x0010 /* include/uapi/linux/fcntl.h */
#define WITHOUT_END "2000000000"

static struct rt_trace_totals totals_of(const struct trace *trace)
{
	struct rt_trace_totals totals;

	ck_assert_int_eq(rt_trace_get_totals(trace->trace, &totals, sizeof(totals)), 0);
	return totals;
}

static bool is_readable(const struct trace *trace, int timeout_ms)
{
	struct pollfd events = { .fd = rt_trace_fd(trace->trace), .events = POLLIN };

	return poll(&events, 1, timeout_ms) == 1;
}

/* Take all that there is. Returns how many events. */
static size_t read_now(struct trace *trace)
{
	struct rt_trace_event events[64];
	size_t count, sum = 0;

	do {
		count = 64;
		trace->end = rt_trace_read(trace->trace, events, sizeof(events[0]), &count);
		sum += count;
	} while (count > 0);
	return sum;
}

/* Take what there is by one call: events flow for the library then. */
static size_t read_once(struct trace *trace)
{
	struct rt_trace_event events[64];
	size_t count = 64;

	trace->end = rt_trace_read(trace->trace, events, sizeof(events[0]), &count);
	return count;
}

static int32_t pid_of(const struct trace *trace)
{
	return rt_command_pid(rt_trace_command(trace->trace));
}

static void kill_and_free(struct trace *trace)
{
	ck_assert_int_eq(rt_command_kill(rt_trace_command(trace->trace)), 0);
	finish_trace(trace);
	free_trace(trace);
}

START_TEST(process_alone_is_traced_with_all_its_threads)
{
	const struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_NO_CHILDREN,
		                            .ring_bytes = 16u << 20 };
	struct trace trace;

	trace_program(&trace, "", "threads", "100", opts);
	read_trace(&trace);
	ck_assert_uint_eq(trace.event_count, 400);
	check_events(&trace);
	free_trace(&trace);
}
END_TEST

static int has_one_thread(void *arg)
{
	return totals_of(arg).threads == 1;
}

/* The threads that the exec has ended do not report it. */
START_TEST(process_after_exec_by_another_thread_has_one_thread)
{
	struct trace trace;

	trace_program(&trace, "", "exec_and_wait", "0", (struct rt_trace_opts){ 0 });
	while (read_now(&trace) == 0) /* the program after the exec makes one call */
		is_readable(&trace, 100);
	wait_until(has_one_thread, &trace);
	kill_and_free(&trace);
}
END_TEST

START_TEST(call_that_an_exec_has_ended_is_no_event)
{
	const struct rt_trace_opts opts = { .calls =
		                                RT_TRACE_CALL_GETRUSAGE | RT_TRACE_CALL_WAIT4 };
	struct trace trace;

	trace_program(&trace, "", "exec_from_wait", "0", opts);
	read_trace(&trace);
	for (size_t i = 0; i < trace.event_count; i++)
		ck_assert_uint_eq(trace.events[i].call, RT_TRACE_CALL_GETRUSAGE);
	ck_assert_uint_eq(trace.event_count, 3);
	check_events(&trace);
	free_trace(&trace);
}
END_TEST

/* As without a trace: the call fails, since the program has no tracer of its own. */
START_TEST(stop_of_the_programs_own_filter_is_no_event)
{
	struct trace trace;

	trace_program(&trace, "", "own_stop", "0", (struct rt_trace_opts){ 0 });
	read_trace(&trace);
	ck_assert_int_eq(trace.log->values[0], 0);
	ck_assert_int_eq(trace.log->values[1], ENOSYS);
	ck_assert_uint_eq(trace.event_count, 7);
	check_events(&trace);
	free_trace(&trace);
}
END_TEST

static uint64_t inode_of(const char *path)
{
	struct stat file;

	ck_assert_int_eq(stat(path, &file), 0);
	return file.st_ino;
}

/* Where the cgroups of v2 are: alone, or beside those of v1. */
static const char *cgroup_mount(void)
{
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		return "/sys/fs/cgroup";
	return "/sys/fs/cgroup/unified";
}

/* The inode of the cgroup (v2) of this process; 0: it has none. */
static uint64_t own_cgroup(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[TEXT_MAX], path[TEXT_MAX + 32] = "";
	struct stat dir;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::", 3) == 0)
			snprintf(path, sizeof(path), "%s%s", cgroup_mount(), line + 3);
	}
	fclose(file);
	return stat(path, &dir) == 0 ? dir.st_ino : 0;
}

START_TEST(event_has_the_numbers_of_the_host_and_the_cgroup)
{
	const char *argv[] = { "bash", "-c", "times >/dev/null", NULL };
	const struct rt_command_opts command = { .accounting = RT_ACCOUNTING_WAIT };
	const struct rt_trace_opts opts = { .command = &command };
	bool is_host = inode_of("/proc/self/ns/pid") == FIRST_PID_NAMESPACE;
	const struct rt_trace_event *event;
	struct trace trace;

	ck_assert_int_eq(trace_argv(&trace, argv, opts), 0);
	read_trace(&trace);

	ck_assert_uint_ge(trace.event_count, 2);
	event = &trace.events[0];
	ck_assert_int_eq(event->host_pid, is_host ? event->pid : 0);
	ck_assert_int_eq(event->host_tid, is_host ? event->tid : 0);
	ck_assert_int_eq(event->host_ppid, is_host ? event->ppid : 0);
	if (own_cgroup())
		ck_assert_uint_eq(event->cgroup_id, own_cgroup());
	else
		suite_skip_test("this process is in no cgroup (v2)");
	free_trace(&trace);
}
END_TEST

static void read_text(pid_t pid, const char *name, char text[TEXT_MAX], size_t *len)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, text, TEXT_MAX - 1);
	close(fd);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	*len = (size_t)n;
}

/* Returns how many descriptors above `last` a process has that lead to what begins with a text. */
static int count_descriptors(pid_t pid, int last, const char *begin)
{
	char path[300], link[TEXT_MAX];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		ssize_t n;

		if (!isdigit(entry->d_name[0]) || atoi(entry->d_name) <= last)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		count += strncmp(link, begin, strlen(begin)) == 0;
	}
	closedir(dir);
	return count;
}

START_TEST(tracer_has_nothing_of_its_host)
{
	int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	int given = fcntl(file, F_DUPFD, 100); /* not close-on-exec */
	char text[TEXT_MAX];
	struct trace trace;
	pid_t tracer;
	size_t len;

	ck_assert_int_ge(given, 0);
	ck_assert_int_eq(chdir("/proc"), 0);
	trace_program(&trace, "", "wait", "0", (struct rt_trace_opts){ 0 });
	tracer = find_tracer();
	ck_assert_int_gt(tracer, 0);

	ck_assert_int_eq(getsid(tracer), tracer);
	ck_assert_int_eq(count_descriptors(tracer, -1, "/etc/passwd"), 0);
	read_text(tracer, "environ", text, &len);
	ck_assert_uint_eq(len, 0);
	read_text(tracer, "status", text, &len);
	ck_assert_ptr_nonnull(strstr(text, "\nSigBlk:\tfffffffe"));
	snprintf(text, sizeof(text), "/proc/%d/cwd", tracer);
	ck_assert_uint_eq(inode_of(text), inode_of("/"));
	kill_and_free(&trace);
	close(given);
	close(file);
}
END_TEST

START_TEST(program_has_no_descriptor_of_the_tracer)
{
	char place[256]; /* of the tracer, which is executed by a descriptor of its directory */
	struct trace trace;

	snprintf(place, sizeof(place), "%s/lib", getenv("RTRACK_BUILD_ROOT"));
	trace_program(&trace, "", "wait", "0", (struct rt_trace_opts){ 0 });
	while (read_now(&trace) == 0) /* it was executed */
		is_readable(&trace, 100);
	ck_assert_int_eq(count_descriptors(pid_of(&trace), 2, "socket:"), 0);
	ck_assert_int_eq(count_descriptors(pid_of(&trace), 2, place), 0);
	kill_and_free(&trace);
}
END_TEST

struct progress {
	const struct traced_log *log;
	int32_t calls;
};

static int has_gone_on(void *arg)
{
	const struct progress *progress = arg;

	return __atomic_load_n(&progress->log->values[0], __ATOMIC_SEQ_CST) > progress->calls + 100;
}

/* E.g.: a system that shuts down. The tracer ends with what it traces. */
START_TEST(signals_do_not_end_the_tracer)
{
	const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE, SIGTSTP };
	struct progress progress;
	struct trace trace;
	pid_t tracer;

	trace_program(&trace, "", "forever", WITHOUT_END, (struct rt_trace_opts){ 0 });
	tracer = find_tracer();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		ck_assert_int_eq(kill_process(tracer, signals[i]), 0);
	progress = (struct progress){ trace.log,
		                      __atomic_load_n(&trace.log->values[0], __ATOMIC_SEQ_CST) };
	wait_until(has_gone_on, &progress);
	ck_assert_int_eq(find_tracer(), tracer);
	kill_and_free(&trace);
}
END_TEST

static int has_called(void *arg)
{
	const struct traced_log *log = arg;

	return __atomic_load_n(&log->values[2], __ATOMIC_SEQ_CST) ==
	       __atomic_load_n(&log->values[0], __ATOMIC_SEQ_CST);
}

static void ask_for_call(struct trace *trace, int32_t argument)
{
	trace->log->values[1] = argument;
	__atomic_fetch_add(&trace->log->values[0], 1, __ATOMIC_SEQ_CST);
	wait_until(has_called, trace->log);
}

/* Live children are to be read at once. Any other event would wait up to 50 ms for the timer. */
START_TEST(call_for_children_wakes_the_reader_at_once)
{
	enum { ROUNDS = 20 };
	const struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_LIVE_CHILDREN };
	struct trace trace;
	int at_once = 0;

	trace_program(&trace, "", "when_asked", "0", opts);
	for (int i = 0; i < ROUNDS; i++) {
		/* Events flow: so the next one need not wake the reader. */
		ask_for_call(&trace, RUSAGE_SELF);
		while (read_once(&trace) == 0)
			is_readable(&trace, 100);
		is_readable(&trace, 0); /* so that the wake-up of before is forgotten */
		ask_for_call(&trace, RUSAGE_CHILDREN);
		at_once += is_readable(&trace, 5);
		while (read_now(&trace) == 0)
			is_readable(&trace, 100);
	}
	__atomic_store_n(&trace.log->may_end, 1, __ATOMIC_SEQ_CST);
	ck_assert_int_ge(at_once, ROUNDS / 2);
	finish_trace(&trace);
	free_trace(&trace);
}
END_TEST

/* Returns a descriptor of the ring, as the tracer has mapped it, or -1. */
static int open_ring_of(int32_t tracer)
{
	char path[64], line[512], range[64];
	int fd = -1;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracer);
	maps = fopen(path, "re");
	while (maps && fd < 0 && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/memfd:rtrack") || sscanf(line, "%63s", range) != 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%.40s", (int)tracer, range);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (maps)
		fclose(maps);
	return fd;
}

/* Otherwise another process of the same user could forge records. */
START_TEST(ring_is_sealed_against_writes_of_other_processes)
{
	struct trace trace;
	int ring, seals;

	trace_program(&trace, "", "calls", WITHOUT_END, (struct rt_trace_opts){ 0 });
	while (read_now(&trace) == 0)
		is_readable(&trace, 100);
	ring = open_ring_of(find_tracer());
	seals = fcntl(ring, F_GET_SEALS);
	if (ring < 0)
		suite_skip_test("this process may not open what another one has mapped");
	else
		ck_assert_int_ne(seals & SEAL_FUTURE_WRITE, 0);
	close(ring);
	kill_and_free(&trace);
}
END_TEST

/* Like the end of a pipe, also after the tracer is gone. */
START_TEST(trace_that_is_over_stays_readable)
{
	struct trace trace;

	trace_program(&trace, "", "calls", "7", (struct rt_trace_opts){ 0 });
	read_trace(&trace);
	ck_assert_int_eq(trace.end, -ESRCH);
	while (find_tracer() > 0 && thread_state(find_tracer(), find_tracer()) != 'Z')
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(read_now(&trace), 0);
		ck_assert_int_eq(trace.end, -ESRCH);
		ck_assert(is_readable(&trace, 0));
	}
	finish_trace(&trace);
	free_trace(&trace);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *threads, *tracer, *reader;

	if (why_no_trace())
		return suite_skip(why_no_trace());
	suite = suite_create("ptrace_state");
	threads = suite_case(suite, "threads");
	tracer = suite_case(suite, "tracer");
	reader = suite_case(suite, "reader");
	tcase_add_test(threads, process_alone_is_traced_with_all_its_threads);
	tcase_add_test(threads, process_after_exec_by_another_thread_has_one_thread);
	tcase_add_test(threads, call_that_an_exec_has_ended_is_no_event);
	tcase_add_test(threads, stop_of_the_programs_own_filter_is_no_event);
	tcase_add_test(threads, event_has_the_numbers_of_the_host_and_the_cgroup);
	tcase_add_test(tracer, tracer_has_nothing_of_its_host);
	tcase_add_test(tracer, program_has_no_descriptor_of_the_tracer);
	tcase_add_test(tracer, signals_do_not_end_the_tracer);
	tcase_add_test(tracer, ring_is_sealed_against_writes_of_other_processes);
	tcase_add_test(reader, call_for_children_wakes_the_reader_at_once);
	tcase_add_test(reader, trace_that_is_over_stays_readable);
	return suite_run(suite);
}
