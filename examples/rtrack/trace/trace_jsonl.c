/* SPDX-License-Identifier: MIT */
/* Format jsonl of a trace: one flat object for each call, with the fields of struct rt_trace_event
 * under their names. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text/json.h"
#include "trace_format.h"
#include "trace_names.h"

static const struct {
	uint32_t bit;
	const char *name;
} flags[] = {
	{ RT_TRACE_EVENT_32BIT, "32bit" },
	{ RT_TRACE_EVENT_UNREAD, "unread" },
	{ RT_TRACE_EVENT_NO_ENTRY, "no_entry" },
	{ RT_TRACE_EVENT_EXE_CUT, "exe_cut" },
};

enum {
	FLAG_COUNT = sizeof(flags) / sizeof(flags[0]),
	FIGURE_COUNT = sizeof(struct rt_rusage) / sizeof(double)
};

/* The keys of the figures, in the order of struct rt_rusage: all are of eight bytes. The first two
 * are of type double. */
static const char *const figures[FIGURE_COUNT] = {
	"ru_utime",  "ru_stime",    "ru_maxrss", "ru_ixrss",   "ru_idrss",   "ru_isrss",
	"ru_minflt", "ru_majflt",   "ru_nswap",  "ru_inblock", "ru_oublock", "ru_msgsnd",
	"ru_msgrcv", "ru_nsignals", "ru_nvcsw",  "ru_nivcsw",
};
enum { DOUBLES = 2 };

static void add_flags(struct text *out, uint32_t value)
{
	json_begin(out, "flags", '[');
	for (int i = 0; i < FLAG_COUNT; i++) {
		if (value & flags[i].bit)
			json_string(out, NULL, flags[i].name);
	}
	json_end(out, ']');
}

static void add_figures(struct text *out, const char *prefix, const struct rt_rusage *usage,
                        uint32_t known)
{
	for (int i = 0; i < FIGURE_COUNT; i++) {
		const char *at = (const char *)usage + (size_t)i * sizeof(double);
		char key[48];
		double real;
		int64_t whole;

		memcpy(&real, at, sizeof(real));
		memcpy(&whole, at, sizeof(whole));
		snprintf(key, sizeof(key), "%s%s", prefix, figures[i]);
		if (!(known >> i & 1))
			json_null(out, key);
		else if (i < DOUBLES)
			json_double(out, key, real);
		else
			json_i64(out, key, whole);
	}
}

/* A number that is 0 if it is not known. */
static void add_known(struct text *out, const char *key, uint64_t value)
{
	if (value > 0)
		json_u64(out, key, value);
	else
		json_null(out, key);
}

/* A number from 0 that is UINT32_MAX if it is not known. */
static void add_u32(struct text *out, const char *key, uint32_t value)
{
	if (value != UINT32_MAX)
		json_u64(out, key, value);
	else
		json_null(out, key);
}

static void add_pid(struct text *out, const char *key, int32_t pid)
{
	add_known(out, key, pid > 0 ? (uint64_t)pid : 0);
}

static void add_call(struct text *out, const struct rt_trace_event *event)
{
	json_u64(out, "sequence", event->sequence);
	json_u64(out, "lost", event->lost);
	json_u64(out, "monotonic_ns", event->monotonic_ns);
	json_u64(out, "realtime_ns", event->realtime_ns);
	if (event->flags & RT_TRACE_EVENT_NO_ENTRY)
		json_null(out, "duration_ns");
	else
		json_u64(out, "duration_ns", event->duration_ns);
	json_string(out, "call", trace_call_name(event->call));
	json_i64(out, "who", event->who);
	json_i64(out, "wait_id", event->wait_id);
	json_u64(out, "wait_options", event->wait_options);
	json_i64(out, "result", event->result);
	json_u64(out, "usage_address", event->usage_address);
	json_u64(out, "status_address", event->status_address);
}

static void add_caller(struct text *out, const struct rt_trace_event *event)
{
	add_u32(out, "cpu", event->cpu);
	add_pid(out, "pid", event->pid);
	add_pid(out, "tid", event->tid);
	add_pid(out, "ppid", event->ppid);
	add_pid(out, "host_pid", event->host_pid);
	add_pid(out, "host_tid", event->host_tid);
	add_pid(out, "host_ppid", event->host_ppid);
	add_pid(out, "ns_pid", event->ns_pid);
	add_pid(out, "ns_tid", event->ns_tid);
	add_pid(out, "ns_ppid", event->ns_ppid);
	add_u32(out, "uid", event->uid);
	add_known(out, "thread_start_ns", event->thread_start_ns);
	add_known(out, "process_start_ns", event->process_start_ns);
	add_known(out, "parent_start_ns", event->parent_start_ns);
	add_known(out, "cgroup_id", event->cgroup_id);
	add_known(out, "mount_namespace", event->mount_namespace);
	add_known(out, "pid_namespace", event->pid_namespace);
}

static void add_live_children(struct text *out, const struct rt_trace_event *event)
{
	add_figures(out, "live_children_", &event->live_children,
	            event->live_children_valid | event->live_children_partial);
	json_begin(out, "live_children_partial", '[');
	for (int i = 0; i < FIGURE_COUNT; i++) {
		if (event->live_children_partial >> i & 1)
			json_string(out, NULL, figures[i]);
	}
	json_end(out, ']');
	add_known(out, "live_children_at_ns", event->live_children_at_ns);
}

static void jsonl_event(struct text *out, struct trace_context *context,
                        const struct rt_trace_event *event)
{
	json_begin(out, NULL, '{');
	json_string(out, "type", "call");
	add_flags(out, event->flags);
	add_call(out, event);
	add_figures(out, "", &event->rusage, event->rusage_valid);
	add_caller(out, event);
	if (context->has_live_children)
		add_live_children(out, event);
	json_string(out, "comm", event->comm);
	json_string(out, "host_name", *event->host_name ? event->host_name : NULL);
	json_string(out, "exe", *event->exe ? event->exe : NULL);
	json_end(out, '}');
	text_add(out, "\n");
}

static void jsonl_totals(struct text *out, const struct rt_trace_totals *totals)
{
	json_begin(out, NULL, '{');
	json_string(out, "type", "totals");
	json_u64(out, "calls", totals->read);
	json_u64(out, "lost", totals->lost);
	json_end(out, '}');
	text_add(out, "\n");
}

const struct trace_format trace_format_jsonl = { .name = "jsonl",
	                                         .event = jsonl_event,
	                                         .totals = jsonl_totals };
