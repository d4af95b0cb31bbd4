/* SPDX-License-Identifier: MIT */
/* The formats of traced calls, one per file. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include <stdbool.h>
#include <time.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

/* What the lines of a trace have in common. */
struct trace_context {
	bool has_utf8;          /* text: characters that are not ASCII may be written */
	bool has_live_children; /* jsonl: with the figures of live children */
	int64_t boot_offset_ns; /* tracee, tracee-v1beta1: CLOCK_REALTIME - CLOCK_BOOTTIME */
	time_t second;          /* text: the second that clock shows */
	char clock[16];         /* E.g.: "12:01:02" */
};

struct trace_format {
	const char *name;
	/* Add one line. */
	void (*event)(struct text *out, struct trace_context *context,
	              const struct rt_trace_event *event);
	/* Add a last line, for what was lost after the last call. NULL: the format has none. */
	void (*totals)(struct text *out, const struct rt_trace_totals *totals);
};

extern const struct trace_format trace_format_text, trace_format_jsonl, trace_format_tracee,
    trace_format_tracee_v1beta1;

/* Returns NULL if there is no such format. */
const struct trace_format *trace_format_by_name(const char *name);

/* Returns the format for the suffix of a file name: jsonl for *.jsonl, else text. */
const struct trace_format *trace_format_by_file(const char *file);

void trace_context_init(struct trace_context *context, bool has_utf8, bool has_live_children);

#endif
