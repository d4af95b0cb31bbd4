/* SPDX-License-Identifier: MIT */
/* Format tracee: the JSON of Tracee up to v0.24, field by field in its order, so that what reads
 * its events reads these. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "text/json.h"
#include "trace_format.h"
#include "trace_names.h"

/* Tracee numbers the events of system calls as the 64-bit calls, those of 32-bit callers too. */
static long number_of(uint32_t call)
{
	switch (call) {
	case RT_TRACE_CALL_WAIT4:
		return SYS_wait4;
	case RT_TRACE_CALL_WAITID:
		return SYS_waitid;
	default:
		return SYS_getrusage;
	}
}

static void add_argument(struct text *out, const char *name, int64_t value)
{
	json_begin(out, NULL, '{');
	json_string(out, "name", name);
	json_string(out, "type", "int32");
	json_i64(out, "value", value);
	json_end(out, '}');
}

/* A pointer; NULL if this library does not record it. */
static void add_pointer(struct text *out, const char *name, const uint64_t *value)
{
	json_begin(out, NULL, '{');
	json_string(out, "name", name);
	json_string(out, "type", "trace.Pointer");
	if (value)
		json_u64(out, "value", *value);
	else
		json_null(out, "value");
	json_end(out, '}');
}

static void add_arguments(struct text *out, const struct rt_trace_event *event)
{
	json_begin(out, "args", '[');
	if (event->call == RT_TRACE_CALL_WAIT4) {
		add_argument(out, "pid", event->who);
		add_pointer(out, "wstatus", NULL);
		add_argument(out, "options", (int32_t)event->wait_options);
		add_pointer(out, "rusage", &event->usage_address);
	} else if (event->call == RT_TRACE_CALL_WAITID) {
		add_argument(out, "idtype", event->who);
		add_argument(out, "id", event->wait_id);
		add_pointer(out, "infop", NULL);
		add_argument(out, "options", (int32_t)event->wait_options);
		add_pointer(out, "rusage", &event->usage_address);
	} else {
		add_argument(out, "who", event->who);
		add_pointer(out, "usage", &event->usage_address);
	}
	json_end(out, ']');
}

static int argument_count(uint32_t call)
{
	return call == RT_TRACE_CALL_WAIT4 ? 4 : call == RT_TRACE_CALL_WAITID ? 5 : 2;
}

static void add_caller(struct text *out, const struct trace_context *context,
                       const struct rt_trace_event *event)
{
	uint64_t start = event->thread_start_ns;

	json_u64(out, "timestamp", event->realtime_ns);
	json_u64(out, "threadStartTime", start ? start + (uint64_t)context->boot_offset_ns : 0);
	json_i64(out, "processorId", event->cpu == UINT32_MAX ? -1 : (int64_t)event->cpu);
	json_i64(out, "processId", event->pid);
	json_u64(out, "cgroupId", event->cgroup_id);
	json_i64(out, "threadId", event->tid);
	json_i64(out, "parentProcessId", event->ppid);
	json_i64(out, "hostProcessId", event->host_pid);
	json_i64(out, "hostThreadId", event->host_tid);
	json_i64(out, "hostParentProcessId", event->host_ppid);
	json_i64(out, "userId", event->uid == UINT32_MAX ? -1 : (int64_t)event->uid);
	json_u64(out, "mountNamespace", event->mount_namespace);
	json_u64(out, "pidNamespace", event->pid_namespace);
	json_string(out, "processName", event->comm);
	json_begin(out, "executable", '{');
	json_string(out, "path", event->exe);
	json_end(out, '}');
	json_string(out, "hostName", context->host_name);
	json_string(out, "containerId", "");
	json_begin(out, "container", '{');
	json_end(out, '}');
	json_begin(out, "kubernetes", '{');
	json_end(out, '}');
}

static void tracee_event(struct text *out, struct trace_context *context,
                         const struct rt_trace_event *event)
{
	char id[24];

	snprintf(id, sizeof(id), "%ld", number_of(event->call));
	json_begin(out, NULL, '{');
	add_caller(out, context, event);
	json_string(out, "eventId", id);
	json_string(out, "eventName", trace_call_name(event->call));
	json_begin(out, "matchedPolicies", '[');
	json_end(out, ']');
	json_i64(out, "argsNum", argument_count(event->call));
	json_i64(out, "returnValue", event->result);
	json_string(out, "syscall", trace_call_name(event->call));
	json_null(out, "stackAddresses");
	json_begin(out, "contextFlags", '{');
	json_bool(out, "containerStarted", false);
	json_bool(out, "isCompat", (event->flags & RT_TRACE_EVENT_32BIT) != 0);
	json_end(out, '}');
	json_u64(out, "threadEntityId", 0);
	json_u64(out, "processEntityId", 0);
	json_u64(out, "parentEntityId", 0);
	add_arguments(out, event);
	json_null(out, "metadata");
	json_end(out, '}');
	text_add(out, "\n");
}

const struct trace_format trace_format_tracee = { .name = "tracee", .event = tracee_event };
