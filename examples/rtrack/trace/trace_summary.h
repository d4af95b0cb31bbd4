/* SPDX-License-Identifier: MIT */
/* What a trace has seen: calls by process. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

/* The kinds of calls that are counted apart. */
enum trace_kind {
	TRACE_SELF,
	TRACE_CHILDREN,
	TRACE_THREAD,
	TRACE_OTHER_SCOPE, /* of getrusage(2), which refuses it */
	TRACE_WAIT4,
	TRACE_WAITID,
	TRACE_KINDS
};

struct trace_process {
	int32_t pid;  /* 0: the slot is free */
	bool is_here; /* pid is that of the own pid namespace, else of the first one */
	char comm[64];
	uint64_t calls[TRACE_KINDS], failed[TRACE_KINDS];
	uint64_t total;
};

struct trace_summary {
	struct trace_process *slots; /* a hash table */
	size_t slot_count, process_count;
	uint64_t calls, failed;
	bool is_interrupted;      /* the trace has ended before what it traces */
	uint64_t calls_of_others; /* of processes that the table has no room for, or no number of */
};

void trace_summary_add(struct trace_summary *s, const struct rt_trace_event *event);

/* Add the summary. It ends what was collected: call trace_summary_free() next. */
void trace_summary_write(struct trace_summary *s, const struct rt_trace_totals *totals,
                         bool has_utf8, struct text *out);

void trace_summary_free(struct trace_summary *s);

#endif
