/* SPDX-License-Identifier: MIT */
/* Finds the format of traced calls, and what all their lines have in common. */
#include "trace_format.h"

#include <stdio.h>
#include <string.h>

#include "text/units.h"
#include "text/text.h"

static const struct trace_format *const formats[] = { &trace_format_text, &trace_format_jsonl,
	                                              &trace_format_tracee,
	                                              &trace_format_tracee_v1beta1 };

enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

const struct trace_format *trace_format_by_name(const char *name)
{
	for (int i = 0; i < FORMAT_COUNT; i++) {
		if (strcmp(name, formats[i]->name) == 0)
			return formats[i];
	}
	return NULL;
}

const struct trace_format *trace_format_by_file(const char *file)
{
	bool is_json = has_suffix(file, ".jsonl") || has_suffix(file, ".ndjson");

	return is_json ? &trace_format_jsonl : &trace_format_text;
}

static int64_t read_clock(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void trace_context_init(struct trace_context *context, bool has_utf8, bool has_live_children)
{
	*context = (struct trace_context){
		.has_utf8 = has_utf8,
		.has_live_children = has_live_children,
		.boot_offset_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME),
		.second = (time_t)-1,
	};
}
