/* SPDX-License-Identifier: MIT */
/* Fields of what traces return. */
#include "api/field_tables.h"

static const struct rt_field trace_event_fields[] = {
	FIELD(trace_event, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, sequence, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, lost, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "1"),
	FIELD(trace_event, monotonic_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(trace_event, realtime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(trace_event, duration_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(trace_event, call, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, who, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, wait_id, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, wait_options, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, result, RT_TYPE_I64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, usage_address, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, rusage, RT_TYPE_RUSAGE, RT_FIELD_COUNTER, 0, ""),
	FIELD(trace_event, rusage_valid, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, cpu, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, tid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, ppid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, host_pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, host_tid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, host_ppid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, uid, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, live_children_valid, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, live_children_partial, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_event, thread_start_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(trace_event, cgroup_id, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, mount_namespace, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, pid_namespace, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(trace_event, live_children, RT_TYPE_RUSAGE, RT_FIELD_COUNTER, 0, ""),
	FIELD(trace_event, live_children_at_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(trace_event, comm, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(trace_event, exe, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(trace_event);

static const struct rt_field trace_totals_fields[] = {
	FIELD(trace_totals, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_totals, back_end, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(trace_totals, read, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "1"),
	FIELD(trace_totals, lost, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "1"),
	FIELD(trace_totals, threads, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "1"),
};

FIELD_TABLE(trace_totals);
