/* SPDX-License-Identifier: MIT */
/* Fields of the other structs that calls fill in. */
#include "api/field_tables.h"

static const struct rt_field rusage_fields[] = {
	FIELD(rusage, ru_utime, RT_TYPE_DOUBLE, RT_FIELD_COUNTER, UINT64_C(1) << 0, "s"),
	FIELD(rusage, ru_stime, RT_TYPE_DOUBLE, RT_FIELD_COUNTER, UINT64_C(1) << 1, "s"),
	FIELD(rusage, ru_maxrss, RT_TYPE_I64, RT_FIELD_GAUGE, UINT64_C(1) << 2, "KiBy"),
	FIELD(rusage, ru_ixrss, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 3, "1"),
	FIELD(rusage, ru_idrss, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 4, "1"),
	FIELD(rusage, ru_isrss, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 5, "1"),
	FIELD(rusage, ru_minflt, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 6, "1"),
	FIELD(rusage, ru_majflt, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 7, "1"),
	FIELD(rusage, ru_nswap, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 8, "1"),
	FIELD(rusage, ru_inblock, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 9, "512By"),
	FIELD(rusage, ru_oublock, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 10, "512By"),
	FIELD(rusage, ru_msgsnd, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 11, "1"),
	FIELD(rusage, ru_msgrcv, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 12, "1"),
	FIELD(rusage, ru_nsignals, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 13, "1"),
	FIELD(rusage, ru_nvcsw, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 14, "1"),
	FIELD(rusage, ru_nivcsw, RT_TYPE_I64, RT_FIELD_COUNTER, UINT64_C(1) << 15, "1"),
};

FIELD_TABLE(rusage);

static const struct rt_field outcome_fields[] = {
	FIELD(outcome, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(outcome, exit_code, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(outcome, signal, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(outcome, accounting, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(outcome, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(outcome, partial, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(outcome, complete, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(outcome, reasons, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(outcome, start_realtime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(outcome, wall_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(outcome, rusage, RT_TYPE_RUSAGE, RT_FIELD_COUNTER, 0, ""),
	FIELD(outcome, cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(outcome, cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(outcome, cpu_low_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(outcome, cpu_high_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(outcome, peak_rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_RSS, "By"),
	FIELD(outcome, peak_tree_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_TREE, "By"),
	FIELD(outcome, peak_tree_kind, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(outcome, left_running, RT_TYPE_U32, RT_FIELD_GAUGE, 0, "1"),
	FIELD(outcome, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(outcome, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(outcome, processes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PROCESSES, "1"),
	FIELD(outcome, samples, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "1"),
	FIELD(outcome, overhead_cpu_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(outcome, cpu_estimate_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(outcome, peak_tree_low_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "By"),
	FIELD(outcome, peak_tree_high_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "By"),
	FIELD(outcome, processes_peak, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PROCESSES_PEAK, "1"),
	FIELD(outcome, members_skipped, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "1"),
	FIELD(outcome, cgroup_memory_peak_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_CGROUP_MEMORY,
	      "By"),
	FIELD(outcome, cgroup_read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CGROUP_IO, "By"),
	FIELD(outcome, cgroup_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CGROUP_IO, "By"),
	FIELD(outcome, cgroup_tasks_peak, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_CGROUP_TASKS, "1"),
	FIELD(outcome, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(outcome, error_bound_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(outcome, gpu_busy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(outcome, gpu_memory_peak_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_GPU_MEMORY, "By"),
};

FIELD_TABLE(outcome);

static const struct rt_field constant_fields[] = {
	FIELD(constant, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(constant, group, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(constant, value, RT_TYPE_I64, RT_FIELD_META, 0, ""),
	FIELD(constant, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(constant, text, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(constant);

static const struct rt_field obstacle_fields[] = {
	FIELD(obstacle, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(obstacle, kind, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(obstacle, error, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(obstacle, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(obstacle, has, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(obstacle, members, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "1"),
	FIELD(obstacle, members_ever, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "1"),
	FIELD(obstacle, file, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(obstacle, text, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
};

FIELD_TABLE(obstacle);
