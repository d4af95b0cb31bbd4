/* SPDX-License-Identifier: MIT */
/* Format tracee-v1beta1: the JSON of Tracee after v0.24, field by field in its order. */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "text/json.h"
#include "text/units.h"
#include "text/utf8.h"
#include "trace_format.h"
#include "trace_names.h"
#include "tracee.h"

enum { STRING_BYTES = sizeof(((struct rt_trace_event *)0)->exe) };

/* The numbers of Tracee's enum EventId, the same on every architecture. */
static int number_of(uint32_t call)
{
	return call == RT_TRACE_CALL_WAIT4 ? 62 : call == RT_TRACE_CALL_WAITID ? 248 : 99;
}

/* Add a string, without bytes that are not UTF-8. */
static void add_string(struct text *out, const char *key, const char *value)
{
	char clean[STRING_BYTES];
	size_t len = 0;

	while (*value && len < sizeof(clean) - 1) {
		size_t wide = utf8_length(value);

		for (size_t i = 0; i < wide; i++)
			clean[len++] = value[i];
		value += wide ? wide : 1;
	}
	clean[len] = '\0';
	json_string(out, key, clean);
}

/* Add a time since 1970 in UTC, without zeros at its end. E.g.: 2023-11-14T22:13:20.12Z. */
static void add_time(struct text *out, const char *key, uint64_t ns)
{
	time_t second = (time_t)(ns / NS_PER_S);
	uint64_t rest = ns % NS_PER_S;
	char date[40] = "", text[64];
	int digits = rest ? 9 : 0;
	struct tm parts;

	for (; digits && rest % 10 == 0; digits--)
		rest /= 10;
	if (gmtime_r(&second, &parts))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
	if (digits)
		snprintf(text, sizeof(text), "%s.%0*uZ", date, digits, (unsigned)rest);
	else
		snprintf(text, sizeof(text), "%sZ", date);
	json_string(out, key, text);
}

static void add_thread(struct text *out, const struct trace_context *context,
                       const struct rt_trace_event *event, uint32_t id)
{
	json_begin(out, "thread", '{');
	if (event->thread_start_ns)
		add_time(out, "start_time", tracee_epoch_ns(context, event->thread_start_ns));
	if (*event->comm)
		add_string(out, "name", event->comm);
	json_u64(out, "unique_id", id);
	json_i64(out, "host_tid", event->host_tid);
	json_i64(out, "tid", event->ns_tid);
	json_string(out, "syscall", trace_call_name(event->call));
	if (event->flags & RT_TRACE_EVENT_32BIT)
		json_bool(out, "compat", true);
	json_end(out, '}');
}

/* Tracee shows the parent alone of all ancestors, and no parent without an id. */
static void add_parent(struct text *out, const struct rt_trace_event *event, uint32_t id)
{
	if (!id)
		return;
	json_begin(out, "ancestors", '[');
	json_begin(out, NULL, '{');
	json_u64(out, "unique_id", id);
	json_i64(out, "host_pid", event->host_ppid);
	json_i64(out, "pid", event->ns_ppid);
	json_end(out, '}');
	json_end(out, ']');
}

static void add_process(struct text *out, const struct trace_context *context,
                        const struct rt_trace_event *event)
{
	struct tracee_ids ids = tracee_ids(context, event);

	json_begin(out, "process", '{');
	if (*event->exe) {
		json_begin(out, "executable", '{');
		add_string(out, "path", event->exe);
		json_end(out, '}');
	}
	json_u64(out, "unique_id", ids.process);
	json_i64(out, "host_pid", event->host_pid);
	json_i64(out, "pid", event->ns_pid);
	if (event->uid != UINT32_MAX) {
		json_begin(out, "real_user", '{');
		json_u64(out, "id", event->uid);
		json_end(out, '}');
	}
	add_thread(out, context, event, ids.thread);
	add_parent(out, event, ids.parent);
	json_end(out, '}');
}

/* A number of 64 bits is a string, as everywhere in the JSON of protobuf. */
static void add_data(struct text *out, const struct rt_trace_event *event)
{
	struct tracee_argument arguments[TRACEE_ARGUMENTS_MAX];
	int count = tracee_arguments(event, arguments);
	char number[24];

	json_begin(out, "data", '[');
	for (const struct tracee_argument *a = arguments; a < arguments + count; a++) {
		json_begin(out, NULL, '{');
		json_string(out, "name", a->name);
		if (a->is_pointer) {
			snprintf(number, sizeof(number), "%llu", (unsigned long long)a->pointer);
			json_string(out, "pointer", number);
		} else {
			json_i64(out, "int32", a->number);
		}
		json_end(out, '}');
	}
	json_begin(out, NULL, '{');
	json_string(out, "name", "returnValue");
	snprintf(number, sizeof(number), "%lld", (long long)event->result);
	json_string(out, "int64", number);
	json_end(out, '}');
	json_end(out, ']');
}

static void tracee_event(struct text *out, struct trace_context *context,
                         const struct rt_trace_event *event)
{
	json_begin(out, NULL, '{');
	add_time(out, "timestamp", event->realtime_ns);
	json_i64(out, "id", number_of(event->call));
	json_string(out, "name", trace_call_name(event->call));
	/* The policy of events that Tracee's command line names has no name. */
	json_begin(out, "policies", '{');
	json_begin(out, "matched", '[');
	json_string(out, NULL, "");
	json_end(out, ']');
	json_end(out, '}');
	json_begin(out, "workload", '{');
	add_process(out, context, event);
	json_end(out, '}');
	add_data(out, event);
	json_end(out, '}');
	text_add(out, "\n");
}

const struct trace_format trace_format_tracee_v1beta1 = { .name = "tracee-v1beta1",
	                                                  .event = tracee_event };
