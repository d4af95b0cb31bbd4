/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "refusals.h"
#include "suite.h"

#define BATCH 512
#define PATIENCE_MS 100000
#define ALL_FIELDS 0xffffu

static void program_path(const char *variant, char path[4096])
{
	snprintf(path, 4096, "%s/tests/live/traced-program%s%s", getenv("RTRACK_BUILD_ROOT"),
	         *variant ? "-" : "", variant);
}

int has_variant(const char *variant)
{
	char path[4096];

	program_path(variant, path);
	return access(path, X_OK) == 0;
}

/* Returns the descriptor. */
static int make_log(struct trace *trace)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*trace->log)), 0);
	trace->log = mmap(NULL, sizeof(*trace->log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(trace->log != MAP_FAILED);
	return fd;
}

int trace_argv(struct trace *trace, const char *const argv[], struct rt_trace_opts opts)
{
	struct rt_command_opts command = { 0 };
	struct rt_fd fds[1];
	int err;

	*trace = (struct trace){ .trace = NULL };
	fds[0] = (struct rt_fd){ .target = TRACED_LOG_FD, .source = make_log(trace) };
	if (opts.command)
		command = *opts.command;
	command.size = sizeof(command);
	command.argv = argv;
	command.fds = fds;
	command.fd_count = 1;
	opts.size = sizeof(opts);
	if (opts.back_end == RT_TRACE_BACK_END_AUTO)
		opts.back_end = RT_TRACE_BACK_END_PTRACE;
	opts.command = &command;
	err = rt_trace_new(&trace->trace, &opts);
	close(fds[0].source);
	return err;
}

const char *why_no_trace(void)
{
	static char why[512];
	const char *argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .back_end = RT_TRACE_BACK_END_PTRACE,
		                            .command = &command,
		                            .message = why,
		                            .message_size = sizeof(why) };
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	if (err == 0) {
		rt_command_wait(rt_trace_command(trace), -1, NULL, 0);
		rt_trace_free(trace);
	}
	return has_ptrace() ? NULL : why;
}

void trace_program(struct trace *trace, const char *variant, const char *what, const char *count,
                   struct rt_trace_opts opts)
{
	char path[4096];
	const char *argv[] = { path, what, count, NULL };

	program_path(variant, path);
	ck_assert_int_eq(trace_argv(trace, argv, opts), 0);
}

void read_trace(struct trace *trace)
{
	struct pollfd readable = { .fd = rt_trace_fd(trace->trace), .events = POLLIN };
	size_t count;

	while (trace->end == 0) {
		ck_assert_int_eq(poll(&readable, 1, PATIENCE_MS), 1);
		do {
			if (trace->event_count + BATCH > trace->room) {
				trace->room = 2 * trace->room + BATCH;
				trace->events =
				    realloc(trace->events, trace->room * sizeof(*trace->events));
				ck_assert_ptr_nonnull(trace->events);
			}
			count = BATCH;
			trace->end = rt_trace_read(trace->trace, trace->events + trace->event_count,
			                           sizeof(*trace->events), &count);
			trace->event_count += count;
		} while (trace->end == 0 && count == BATCH);
	}
}

struct rt_outcome finish_trace(struct trace *trace)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(
	    rt_command_wait(rt_trace_command(trace->trace), -1, &outcome, sizeof(outcome)), 0);
	return outcome;
}

static int64_t word_of(const struct traced_call *call, unsigned index)
{
	int64_t whole;
	int32_t half;

	if (call->usage_bytes == sizeof(whole) * 18) {
		memcpy(&whole, call->usage + index * sizeof(whole), sizeof(whole));
		return whole;
	}
	memcpy(&half, call->usage + index * sizeof(half), sizeof(half));
	return half;
}

static bool is_same_time(double seconds, const struct traced_call *call, unsigned index)
{
	return seconds == (double)word_of(call, index) + (double)word_of(call, index + 1) * 1e-6;
}

static void check_usage(const struct rt_trace_event *event, const struct traced_call *call)
{
	const int64_t *counts = &event->rusage.ru_maxrss;

	ck_assert_uint_eq(event->rusage_valid, call->usage_bytes ? ALL_FIELDS : 0);
	if (!call->usage_bytes)
		return;
	ck_assert(is_same_time(event->rusage.ru_utime, call, 0));
	ck_assert(is_same_time(event->rusage.ru_stime, call, 2));
	for (unsigned i = 0; i < 14; i++)
		ck_assert_int_eq(counts[i], word_of(call, 4 + i));
	ck_assert_uint_eq(!!(event->flags & RT_TRACE_EVENT_32BIT), call->usage_bytes == 72);
}

static void check_event(const struct rt_trace_event *event, const struct traced_call *call)
{
	ck_assert_uint_eq(event->call, RT_TRACE_CALL_GETRUSAGE);
	ck_assert_int_eq(event->who, call->subject);
	ck_assert_int_eq(event->result, call->result);
	ck_assert_uint_eq(event->flags & ~RT_TRACE_EVENT_32BIT, 0);
	check_usage(event, call);
}

/* Both are in the order of each thread. */
void check_events(const struct trace *trace)
{
	const struct traced_log *log = trace->log;
	uint32_t *next = calloc(1 << 22, sizeof(*next)); /* by thread: where its next call may be */
	size_t checked = 0;

	ck_assert_ptr_nonnull(next);
	for (; checked < trace->event_count; checked++) {
		const struct rt_trace_event *event = &trace->events[checked];
		uint32_t i = next[event->tid];

		while (i < log->count && log->calls[i].tid != (uint32_t)event->tid)
			i++;
		ck_assert_uint_lt(i, log->count);
		check_event(event, &log->calls[i]);
		ck_assert_uint_eq(event->sequence, checked);
		next[event->tid] = i + 1;
	}
	free(next);
	ck_assert_uint_eq(checked, log->count);
}

void free_trace(struct trace *trace)
{
	rt_trace_free(trace->trace);
	munmap(trace->log, sizeof(*trace->log));
	free(trace->events);
}

pid_t find_tracer(void)
{
	char path[64], text[4096], comm[64];
	FILE *file;
	pid_t found = 0, pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	while (!found && fscanf(file, "%d", &pid) == 1) {
		FILE *of_child;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		of_child = fopen(path, "r");
		comm[0] = '\0';
		if (of_child && fgets(text, sizeof(text), of_child))
			sscanf(text, "%63s", comm);
		if (of_child)
			fclose(of_child);
		if (strncmp(comm, "rtrack-tracer", 13) == 0)
			found = pid;
	}
	fclose(file);
	return found;
}
