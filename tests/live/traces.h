/* SPDX-License-Identifier: MIT */
/* Helpers for tests that trace a program by ptrace(2). They fail the test if they cannot do what
 * they say. */
#ifndef TRACES_H
#define TRACES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rtrack/rtrack.h>

#include "traced_log.h"

struct trace {
	struct rt_trace *trace;
	struct traced_log *log;
	struct rt_trace_event *events;
	size_t event_count, room;
	int end; /* what rt_trace_read() has returned at last: 0 while it goes on */
};

/* Why no program can be traced here. E.g.: ptrace(2) is forbidden. NULL: it can. For main(). */
const char *why_no_trace(void);

/* Start the traced program, or a variant of it: "static", "32". */
void trace_program(struct trace *trace, const char *variant, const char *what, const char *count,
                   struct rt_trace_opts opts);

/* Start any program, with a log that it does not know. Returns what rt_trace_new() returns. */
int trace_argv(struct trace *trace, const char *const argv[], struct rt_trace_opts opts);

/* Whether there is such a variant of the traced program here. */
int has_variant(const char *variant);

/* Read events until there are no more: until the last traced process has ended. */
void read_trace(struct trace *trace);

/* Wait for the program. */
struct rt_outcome finish_trace(struct trace *trace);

/* Check that the events are the calls that the program has logged, thread by thread, in order. */
void check_events(const struct trace *trace);

void free_trace(struct trace *trace);

/* Returns the pid of the tracer, which is a child of this process, or 0. */
pid_t find_tracer(void);

#endif
