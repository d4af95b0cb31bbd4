/* SPDX-License-Identifier: MIT */
/* Format tracee: the JSON of Tracee v0.24, field by field in its order, so that what reads its
 * events reads these. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "text/json.h"
#include "trace_format.h"
#include "trace_names.h"
#include "tracee.h"

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

static void add_arguments(struct text *out, const struct tracee_argument *arguments, int count)
{
	json_begin(out, "args", '[');
	for (const struct tracee_argument *a = arguments; a < arguments + count; a++) {
		json_begin(out, NULL, '{');
		json_string(out, "name", a->name);
		json_string(out, "type", a->is_pointer ? "trace.Pointer" : "int32");
		if (a->is_pointer)
			json_u64(out, "value", a->pointer);
		else
			json_i64(out, "value", a->number);
		json_end(out, '}');
	}
	json_end(out, ']');
}

static void add_caller(struct text *out, const struct trace_context *context,
                       const struct rt_trace_event *event)
{
	json_u64(out, "timestamp", event->realtime_ns);
	json_u64(out, "threadStartTime", tracee_epoch_ns(context, event->thread_start_ns));
	json_i64(out, "processorId", event->cpu == UINT32_MAX ? -1 : (int64_t)event->cpu);
	json_i64(out, "processId", event->ns_pid);
	json_u64(out, "cgroupId", event->cgroup_id);
	json_i64(out, "threadId", event->ns_tid);
	json_i64(out, "parentProcessId", event->ns_ppid);
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
	json_string(out, "hostName", event->host_name);
	json_string(out, "containerId", "");
	json_begin(out, "container", '{');
	json_end(out, '}');
	json_begin(out, "kubernetes", '{');
	json_end(out, '}');
}

static void add_call(struct text *out, const struct rt_trace_event *event, int argument_count)
{
	char id[24];

	snprintf(id, sizeof(id), "%ld", number_of(event->call));
	json_string(out, "eventId", id);
	json_string(out, "eventName", trace_call_name(event->call));
	/* The policy of events that Tracee's command line names has no name. */
	json_begin(out, "matchedPolicies", '[');
	json_string(out, NULL, "");
	json_end(out, ']');
	json_i64(out, "argsNum", argument_count);
	json_i64(out, "returnValue", event->result);
	json_string(out, "syscall", trace_call_name(event->call));
	json_null(out, "stackAddresses");
	json_begin(out, "contextFlags", '{');
	json_bool(out, "containerStarted", false);
	json_bool(out, "isCompat", (event->flags & RT_TRACE_EVENT_32BIT) != 0);
	json_end(out, '}');
}

static void tracee_event(struct text *out, struct trace_context *context,
                         const struct rt_trace_event *event)
{
	struct tracee_argument arguments[TRACEE_ARGUMENTS_MAX];
	int count = tracee_arguments(event, arguments);
	struct tracee_ids ids = tracee_ids(context, event);

	json_begin(out, NULL, '{');
	add_caller(out, context, event);
	add_call(out, event, count);
	json_u64(out, "threadEntityId", ids.thread);
	json_u64(out, "processEntityId", ids.process);
	json_u64(out, "parentEntityId", ids.parent);
	add_arguments(out, arguments, count);
	json_end(out, '}');
	text_add(out, "\n");
}

const struct trace_format trace_format_tracee = { .name = "tracee", .event = tracee_event };
