/* SPDX-License-Identifier: MIT */
/* Helpers for tests that trace calls. Those that return nothing fail the test if they cannot do
 * their job. */
#ifndef TRACING_H
#define TRACING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "programs/call_log.h"

#define EVENTS_MAX 512 /* read at a time */

/* Where the programs are: set by main(), from the arguments of the test. An empty one could not be
 * built here. */
extern const char *caller_path, *static_caller_path, *caller_32bit_path;

void take_caller_paths(int argc, char **argv);

/* Returns why no calls can be traced by BPF here: there is no plug-in, or the kernel refuses it.
 * NULL: they can be. */
const char *why_no_bpf(void);

/* Memory for the logs of a caller. */
struct logs {
	int fd;
	char *memory;
	uint64_t threads, rows;
	uint64_t *matched; /* of each thread: rows up to that of the last event */
	bool has_gaps;     /* not all calls were traced */
	bool has_own_pids; /* those in the logs are of another pid namespace than the test's */
};

void open_logs(struct logs *logs, uint64_t threads, uint64_t rows);
void close_logs(struct logs *logs);

/* Arguments of a caller, for rt_command_opts.argv. */
struct caller_arguments {
	char text[3][24];
	const char *argv[6];
};

void make_arguments(struct caller_arguments *out, const char *path, const char *how,
                    const struct logs *logs);

/* Rows of all logs together. */
uint64_t count_rows(const struct logs *logs);

/* Fail unless an event is that of the next row of its thread, or of a later one if events were
 * lost. */
void check_event(struct logs *logs, const struct rt_trace_event *event);

/* Start a trace, by BPF unless the options say otherwise. Returns the result of rt_trace_new(). */
int start_trace(struct rt_trace **trace, struct rt_trace_opts opts);

/* Start a trace of a program. */
struct rt_trace *trace_command(struct rt_trace_opts opts, const char *const *argv);

/* Wait until the trace is readable. */
void wait_until_readable(const struct rt_trace *trace);

/* Read all events until the end of the trace, and hand each to a function. */
void read_to_end(struct rt_trace *trace, void (*take)(void *arg, const struct rt_trace_event *),
                 void *arg);

struct rt_trace_totals totals_of(const struct rt_trace *trace);

#endif
