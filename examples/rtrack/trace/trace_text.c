/* SPDX-License-Identifier: MIT */
/* Format text: one line for each call, for people to read. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "text/units.h"
#include "text/utf8.h"
#include "trace_format.h"
#include "trace_names.h"

/* The nine figures that Linux fills in, without the prefix ru_. Bit `bit` of the mask is theirs. */
struct figure {
	const char *name;
	unsigned bit;
	size_t offset;
};

#define WHOLE(name, bit)                                                                           \
	{                                                                                          \
#name, bit, offsetof(struct rt_rusage, ru_##name)                                  \
	}

static const struct figure whole_figures[] = {
	WHOLE(minflt, 6),   WHOLE(majflt, 7), WHOLE(inblock, 9),
	WHOLE(oublock, 10), WHOLE(nvcsw, 14), WHOLE(nivcsw, 15),
};

enum { UTIME_BIT = 0, STIME_BIT = 1, MAXRSS_BIT = 2, DECIMALS_KEPT = 2 };

/* Which figures of a struct are exact, and which are lower bounds. */
struct known {
	uint32_t valid, partial;
};

/* Returns "=" or ">="; NULL if the figure is unknown. */
static const char *relation_of(struct known known, unsigned bit)
{
	if (known.valid >> bit & 1)
		return "=";
	return known.partial >> bit & 1 ? ">=" : NULL;
}

/* E.g.: 0.12 s, 0.000412 s. The kernel gives microseconds. */
static void add_time(struct text *out, const char *name, const char *relation, double value)
{
	char digits[32];
	size_t len, shortest;

	if (!relation) {
		text_printf(out, "%s=?", name);
		return;
	}
	len = (size_t)snprintf(digits, sizeof(digits), "%.6f", value);
	shortest = (size_t)(strchr(digits, '.') - digits) + 1 + DECIMALS_KEPT;
	while (len > shortest && digits[len - 1] == '0')
		len--;
	text_printf(out, "%s%s%.*s s", name, relation, (int)len, digits);
}

static void add_size(struct text *out, const char *name, const char *relation, int64_t kib)
{
	if (relation)
		text_printf(out, "%s%s%s", name, relation, human_bytes((uint64_t)kib * 1024).s);
	else
		text_printf(out, "%s=?", name);
}

/* A figure that is 0 is left out, but not one that may be more. */
static void add_whole(struct text *out, const char *name, const char *relation, int64_t value)
{
	if (relation && *relation == '=' && value == 0)
		return;
	text_printf(out, ", %s%s", name, relation ? relation : "=?");
	if (relation)
		text_i64(out, value);
}

static void add_figures(struct text *out, const struct rt_rusage *usage, struct known known)
{
	add_time(out, "{utime", relation_of(known, UTIME_BIT), usage->ru_utime);
	add_time(out, ", stime", relation_of(known, STIME_BIT), usage->ru_stime);
	add_size(out, ", maxrss", relation_of(known, MAXRSS_BIT), usage->ru_maxrss);
	for (size_t i = 0; i < sizeof(whole_figures) / sizeof(whole_figures[0]); i++) {
		const struct figure *f = &whole_figures[i];
		int64_t value;

		memcpy(&value, (const char *)usage + f->offset, sizeof(value));
		add_whole(out, f->name, relation_of(known, f->bit), value);
	}
	text_add(out, "}");
}

static void add_clock(struct text *out, struct trace_context *context, uint64_t realtime_ns)
{
	time_t second = (time_t)(realtime_ns / (uint64_t)NS_PER_S);
	struct tm local;

	if (second != context->second) {
		context->second = second;
		if (!localtime_r(&second, &local) ||
		    strftime(context->clock, sizeof(context->clock), "%H:%M:%S", &local) == 0)
			context->clock[0] = '\0';
	}
	text_printf(out, "%s.%06u ", context->clock,
	            (unsigned)(realtime_ns % (uint64_t)NS_PER_S / 1000));
}

/* E.g.: python3[4711], or python3[4711/4713] for a thread that is not the leader. A process in
 * another pid namespace has its number in the first one. */
static void add_process(struct text *out, bool has_utf8, const struct rt_trace_event *event)
{
	bool is_here = event->pid > 0;
	int32_t pid = is_here ? event->pid : event->host_pid;
	int32_t tid = is_here ? event->tid : event->host_tid;

	utf8_add_printable(out, event->comm, has_utf8);
	text_add(out, is_here ? "[" : "[host ");
	if (pid > 0)
		text_i64(out, pid);
	else
		text_add(out, "?");
	if (tid != pid) {
		text_add(out, "/");
		text_i64(out, tid);
	}
	text_add(out, "] ");
}

static void add_call(struct text *out, const struct rt_trace_event *event)
{
	text_printf(out, "%s(", trace_call_name(event->call));
	if (event->call == RT_TRACE_CALL_GETRUSAGE) {
		trace_add_scope(out, event->who);
	} else if (event->call == RT_TRACE_CALL_WAIT4) {
		text_i64(out, event->who);
	} else {
		trace_add_idtype(out, event->who);
		text_add(out, ", ");
		text_i64(out, event->wait_id);
	}
	if (event->call != RT_TRACE_CALL_GETRUSAGE) {
		text_add(out, ", ");
		trace_add_wait_options(out, event->call, event->wait_options);
	}
	text_add(out, ") = ");
	if (event->result < 0) {
		text_add(out, "-1 ");
		trace_add_error(out, -event->result);
	} else {
		text_i64(out, event->result);
	}
}

static void add_all_figures(struct text *out, const struct rt_trace_event *event)
{
	const struct known of_call = { event->rusage_valid, 0 };
	const struct known of_live = { event->live_children_valid, event->live_children_partial };

	if (event->flags & RT_TRACE_EVENT_UNREAD) {
		text_add(out, " {unreadable}");
	} else if (of_call.valid) {
		text_add(out, " ");
		add_figures(out, &event->rusage, of_call);
	}
	if (of_live.valid || of_live.partial) {
		text_add(out, " + live children ");
		add_figures(out, &event->live_children, of_live);
	}
}

static void text_event(struct text *out, struct trace_context *context,
                       const struct rt_trace_event *event)
{
	add_clock(out, context, event->realtime_ns);
	add_process(out, context->has_utf8, event);
	add_call(out, event);
	add_all_figures(out, event);
	if (event->flags & RT_TRACE_EVENT_32BIT)
		text_add(out, " (32-bit)");
	if (event->flags & RT_TRACE_EVENT_NO_ENTRY)
		text_add(out, " (began before the trace)");
	text_add(out, "\n");
}

const struct trace_format trace_format_text = { .name = "text", .event = text_event };
