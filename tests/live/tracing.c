/* SPDX-License-Identifier: MIT */
#include "tracing.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "refusals.h"
#include "suite.h"

#define PATIENCE_MS 300000
#define MATCH_MAX_MS 60000 /* less than the limit of a test, so that it can say what is wrong */

const char *caller_path, *static_caller_path, *caller_32bit_path;

void take_caller_paths(int argc, char **argv)
{
	caller_path = argc > 1 ? argv[1] : "";
	static_caller_path = argc > 2 ? argv[2] : "";
	caller_32bit_path = argc > 3 ? argv[3] : "";
}

int start_trace(struct rt_trace **trace, struct rt_trace_opts opts)
{
	opts.size = sizeof(opts);
	if (opts.back_end == RT_TRACE_BACK_END_AUTO)
		opts.back_end = RT_TRACE_BACK_END_BPF;
	return rt_trace_new(trace, &opts);
}

const char *why_no_bpf(void)
{
	static char why[256];
	struct rt_trace *trace;
	struct rt_trace_opts opts = { .flags = RT_TRACE_OPT_ALL,
		                      .message = why,
		                      .message_size = sizeof(why) };
	int err = start_trace(&trace, opts);

	if (err == 0) {
		rt_trace_free(trace);
		return NULL;
	}
	return err == -ENOPKG ? (IS_BUILT ? NULL : why) : has_bpf() ? NULL : why;
}

static struct call_log *log_of(const struct logs *logs, uint64_t thread)
{
	return (void *)(logs->memory + thread * call_log_bytes(logs->rows));
}

void open_logs(struct logs *logs, uint64_t threads, uint64_t rows)
{
	uint64_t bytes = threads * call_log_bytes(rows);

	*logs = (struct logs){ .threads = threads, .rows = rows };
	logs->fd = memfd_create("calls", 0);
	ck_assert_int_ge(logs->fd, 0);
	ck_assert_int_eq(ftruncate(logs->fd, (off_t)bytes), 0);
	logs->memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, logs->fd, 0);
	ck_assert_ptr_ne(logs->memory, MAP_FAILED);
	logs->matched = calloc((size_t)threads, sizeof(*logs->matched));
	ck_assert_ptr_nonnull(logs->matched);
}

void close_logs(struct logs *logs)
{
	munmap(logs->memory, (size_t)(logs->threads * call_log_bytes(logs->rows)));
	close(logs->fd);
	free(logs->matched);
}

void make_arguments(struct caller_arguments *out, const char *path, const char *how,
                    const struct logs *logs)
{
	snprintf(out->text[0], sizeof(out->text[0]), "%d", logs->fd);
	snprintf(out->text[1], sizeof(out->text[1]), "%lu", (unsigned long)logs->threads);
	snprintf(out->text[2], sizeof(out->text[2]), "%lu", (unsigned long)logs->rows);
	out->argv[0] = path;
	out->argv[1] = how;
	for (int i = 0; i < 3; i++)
		out->argv[2 + i] = out->text[i];
	out->argv[5] = NULL;
}

uint64_t count_rows(const struct logs *logs)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < logs->threads; i++)
		sum += log_of(logs, i)->rows;
	return sum;
}

static void split_seconds(double seconds, int64_t *words)
{
	int64_t us = llround(seconds * 1e6);

	words[0] = us / 1000000;
	words[1] = us % 1000000;
}

/* The hash of the struct that the kernel wrote, from the figures of an event. */
static uint64_t hash_of(const struct rt_rusage *u)
{
	int64_t words[USAGE_WORDS] = { [4] = u->ru_maxrss, u->ru_ixrss,   u->ru_idrss,
		                       u->ru_isrss,        u->ru_minflt,  u->ru_majflt,
		                       u->ru_nswap,        u->ru_inblock, u->ru_oublock,
		                       u->ru_msgsnd,       u->ru_msgrcv,  u->ru_nsignals,
		                       u->ru_nvcsw,        u->ru_nivcsw };

	split_seconds(u->ru_utime, &words[0]);
	split_seconds(u->ru_stime, &words[2]);
	return hash_words(words);
}

static bool is_event_of(const struct call_row *row, const struct rt_trace_event *event)
{
	bool has_figures = row->hash != 0;

	return event->call == row->call && event->who == row->who && event->result == row->result &&
	       event->usage_address == row->address &&
	       event->rusage_valid == (has_figures ? 0xffffu : 0) &&
	       (!has_figures || hash_of(&event->rusage) == row->hash);
}

/* A pid may have been used again by another thread: its log comes later. */
static bool match_in_log(struct logs *logs, uint64_t thread, const struct rt_trace_event *event)
{
	const struct call_log *log = log_of(logs, thread);
	bool may_skip = event->lost || logs->has_gaps;
	uint64_t last = may_skip ? log->rows : logs->matched[thread] + 1;

	if (!logs->has_own_pids && (log->pid != event->pid || log->tid != event->tid))
		return false;
	for (uint64_t i = logs->matched[thread]; i < last && i < log->rows; i++) {
		if (is_event_of(&log->row[i], event)) {
			logs->matched[thread] = i + 1;
			return true;
		}
	}
	return false;
}

/* The program writes its row after the call: so an event may be there first. */
static bool match(struct logs *logs, const struct rt_trace_event *event)
{
	for (int tries = 0; tries < MATCH_MAX_MS; tries++) {
		for (uint64_t i = 0; i < logs->threads; i++) {
			if (match_in_log(logs, i, event))
				return true;
		}
		usleep(1000);
	}
	return false;
}

void check_event(struct logs *logs, const struct rt_trace_event *event)
{
	if (!match(logs, event))
		ck_abort_msg(
		    "event %lu of thread %d (argument %d, result %ld, address %lx, valid %x, "
		    "lost %lu) is none of its calls",
		    (unsigned long)event->sequence, event->tid, event->who, (long)event->result,
		    (unsigned long)event->usage_address, event->rusage_valid,
		    (unsigned long)event->lost);
}

struct rt_trace *trace_command(struct rt_trace_opts opts, const char *const *argv)
{
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	struct rt_trace *trace;

	opts.command = &command;
	ck_assert_int_eq(start_trace(&trace, opts), 0);
	return trace;
}

void wait_until_readable(const struct rt_trace *trace)
{
	struct pollfd fd = { .fd = rt_trace_fd(trace), .events = POLLIN };

	ck_assert_int_eq(poll(&fd, 1, PATIENCE_MS), 1);
}

void read_to_end(struct rt_trace *trace, void (*take)(void *arg, const struct rt_trace_event *),
                 void *arg)
{
	static struct rt_trace_event events[EVENTS_MAX];
	int err;

	do {
		size_t count = EVENTS_MAX;

		wait_until_readable(trace);
		err = rt_trace_read(trace, events, sizeof(events[0]), &count);
		for (size_t i = 0; i < count; i++)
			take(arg, &events[i]);
	} while (err == 0);
	ck_assert_int_eq(err, -ESRCH);
}

struct rt_trace_totals totals_of(const struct rt_trace *trace)
{
	struct rt_trace_totals totals;

	ck_assert_int_eq(rt_trace_get_totals(trace, &totals, sizeof(totals)), 0);
	return totals;
}
