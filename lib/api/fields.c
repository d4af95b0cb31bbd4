/* SPDX-License-Identifier: MIT */
/* Names, units and places of all public fields, for bindings. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"

#define FIELD(of, field, kind, part, bit, measure)                                                 \
	{                                                                                          \
		.size = sizeof(struct rt_field), .offset = offsetof(struct rt_##of, field),        \
		.length = sizeof(((struct rt_##of *)NULL)->field), .type = (kind), .role = (part), \
		.has = (bit), .name = #field, .unit = measure                                      \
	}

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

static const struct rt_field metrics_fields[] = {
	FIELD(metrics, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(metrics, kind, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(metrics, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(metrics, partial, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(metrics, tracker_id, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(metrics, monotonic_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(metrics, boottime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(metrics, realtime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(metrics, self_cpu_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(metrics, rusage, RT_TYPE_RUSAGE, RT_FIELD_COUNTER, 0, ""),
	FIELD(metrics, cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(metrics, cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(metrics, rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_RSS, "By"),
	FIELD(metrics, pss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "By"),
	FIELD(metrics, peak_rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_RSS, "By"),
	FIELD(metrics, peak_tree_rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_RSS, "By"),
	FIELD(metrics, peak_tree_pss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "By"),
	FIELD(metrics, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(metrics, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(metrics, cancelled_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(metrics, read_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(metrics, write_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(metrics, minor_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(metrics, major_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(metrics, voluntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(metrics, involuntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(metrics, processes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PROCESSES, "1"),
	FIELD(metrics, processes_seen, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PROCESSES_SEEN, "1"),
	FIELD(metrics, threads, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_THREADS, "1"),
	FIELD(metrics, cpu_resolution_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(metrics, reasons, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(metrics, members_unreadable, RT_TYPE_U32, RT_FIELD_GAUGE, 0, "1"),
	FIELD(metrics, cpu_mode_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_idle_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_iowait_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_irq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_softirq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_steal_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_guest_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(metrics, cpu_mode_guest_nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES,
	      "ns"),
	FIELD(metrics, cpus_online, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_CPU_MODES, "1"),
	FIELD(metrics, processes_running, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ACTIVITY, "1"),
	FIELD(metrics, processes_blocked, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ACTIVITY, "1"),
	FIELD(metrics, forks, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(metrics, context_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(metrics, interrupts, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(metrics, memory_total_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_available_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY_AVAILABLE,
	      "By"),
	FIELD(metrics, memory_buffers_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_cached_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_cached_slab_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_slab_reclaimable_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY,
	      "By"),
	FIELD(metrics, memory_slab_unreclaimable_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY,
	      "By"),
	FIELD(metrics, memory_active_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_inactive_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_active_anon_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_inactive_anon_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY,
	      "By"),
	FIELD(metrics, memory_active_file_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_inactive_file_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY,
	      "By"),
	FIELD(metrics, memory_anon_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_mapped_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_shmem_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, memory_used_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY_AVAILABLE,
	      "By"),
	FIELD(metrics, memory_used_classic_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_MEMORY, "By"),
	FIELD(metrics, swap_total_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_SWAP, "By"),
	FIELD(metrics, swap_free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_SWAP, "By"),
	FIELD(metrics, swap_cached_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_SWAP, "By"),
	FIELD(metrics, disk_read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(metrics, disk_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(metrics, disk_reads, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(metrics, disk_writes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(metrics, disk_busy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "ns"),
	FIELD(metrics, disks, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_DISK, "1"),
	FIELD(metrics, filesystem_total_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM,
	      "By"),
	FIELD(metrics, filesystem_used_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
	FIELD(metrics, filesystem_free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
	FIELD(metrics, filesystem_available_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM,
	      "By"),
	FIELD(metrics, filesystems, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "1"),
	FIELD(metrics, filesystems_skipped, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "1"),
	FIELD(metrics, network_receive_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(metrics, network_transmit_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(metrics, network_receive_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(metrics, network_transmit_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK,
	      "1"),
	FIELD(metrics, network_receive_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(metrics, network_transmit_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(metrics, network_receive_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(metrics, network_transmit_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(metrics, network_interfaces, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_NETWORK, "1"),
	FIELD(metrics, load_1m, RT_TYPE_DOUBLE, RT_FIELD_GAUGE, RT_HAS_LOAD, "1"),
	FIELD(metrics, load_5m, RT_TYPE_DOUBLE, RT_FIELD_GAUGE, RT_HAS_LOAD, "1"),
	FIELD(metrics, load_15m, RT_TYPE_DOUBLE, RT_FIELD_GAUGE, RT_HAS_LOAD, "1"),
	FIELD(metrics, pressure_cpu_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_CPU,
	      "ns"),
	FIELD(metrics, pressure_memory_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER,
	      RT_HAS_PRESSURE_MEMORY, "ns"),
	FIELD(metrics, pressure_memory_full_ns, RT_TYPE_U64, RT_FIELD_COUNTER,
	      RT_HAS_PRESSURE_MEMORY, "ns"),
	FIELD(metrics, pressure_io_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_IO,
	      "ns"),
	FIELD(metrics, pressure_io_full_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_IO,
	      "ns"),
	FIELD(metrics, zfs_size_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(metrics, zfs_allocated_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(metrics, zfs_free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(metrics, zfs_pools, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "1"),
	FIELD(metrics, members_skipped, RT_TYPE_U64, RT_FIELD_GAUGE, 0, "1"),
	FIELD(metrics, pss_age_ns, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "ns"),
	FIELD(metrics, pss_source, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(metrics, source, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(metrics, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(metrics, pss_low_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "By"),
	FIELD(metrics, pss_high_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "By"),
	FIELD(metrics, peak_tree_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_TREE, "By"),
	FIELD(metrics, read_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
	FIELD(metrics, write_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
};

static const struct rt_field delta_fields[] = {
	FIELD(delta, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(delta, kind, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(delta, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(delta, partial, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(delta, interval_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(delta, suspended_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(delta, self_cpu_ns, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "ns"),
	FIELD(delta, rusage, RT_TYPE_RUSAGE, RT_FIELD_COUNTER, 0, ""),
	FIELD(delta, cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(delta, cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(delta, cpu_user_ticks, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "{tick}"),
	FIELD(delta, cpu_system_ticks, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "{tick}"),
	FIELD(delta, ticks_per_second, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(delta, cores_used, RT_TYPE_DOUBLE, RT_FIELD_GAUGE, RT_HAS_CPU | RT_HAS_RATE, "1"),
	FIELD(delta, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(delta, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(delta, cancelled_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(delta, read_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(delta, write_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(delta, minor_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(delta, major_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(delta, voluntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(delta, involuntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(delta, processes_seen, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PROCESSES_SEEN, "1"),
	FIELD(delta, cpu_mode_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_idle_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_iowait_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_irq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_softirq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_steal_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_guest_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, cpu_mode_guest_nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(delta, forks, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(delta, context_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(delta, interrupts, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_ACTIVITY, "1"),
	FIELD(delta, disk_read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(delta, disk_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(delta, disk_reads, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(delta, disk_writes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(delta, disk_busy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "ns"),
	FIELD(delta, network_receive_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(delta, network_transmit_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(delta, network_receive_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, network_transmit_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, network_receive_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, network_transmit_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, network_receive_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, network_transmit_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(delta, pressure_cpu_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_CPU,
	      "ns"),
	FIELD(delta, pressure_memory_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_MEMORY,
	      "ns"),
	FIELD(delta, pressure_memory_full_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_MEMORY,
	      "ns"),
	FIELD(delta, pressure_io_some_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_IO, "ns"),
	FIELD(delta, pressure_io_full_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_PRESSURE_IO, "ns"),
	FIELD(delta, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(delta, read_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
	FIELD(delta, write_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
};

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
};

static const struct rt_field process_fields[] = {
	FIELD(process, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(process, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(process, ppid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(process, state, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(process, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(process, start_ticks, RT_TYPE_U64, RT_FIELD_META, 0, "{tick}"),
	FIELD(process, comm, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(process, cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(process, cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(process, reaped_cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(process, reaped_cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(process, rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_RSS, "By"),
	FIELD(process, pss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "By"),
	FIELD(process, peak_rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_RSS, "By"),
	FIELD(process, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(process, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(process, cancelled_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(process, read_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(process, write_chars, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(process, minor_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(process, major_faults, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_FAULTS, "1"),
	FIELD(process, voluntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(process, involuntary_switches, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CTXSW, "1"),
	FIELD(process, threads, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_THREADS, "1"),
	FIELD(process, pss_age_ns, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PSS, "ns"),
	FIELD(process, pss_source, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(process, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(process, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(process, read_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
	FIELD(process, write_calls, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO_CALLS, "1"),
};

static const struct rt_field cpu_fields[] = {
	FIELD(cpu, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(cpu, id, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(cpu, user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, idle_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, iowait_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, irq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, softirq_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, steal_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, guest_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
	FIELD(cpu, guest_nice_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU_MODES, "ns"),
};

static const struct rt_field disk_fields[] = {
	FIELD(disk, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(disk, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(disk, major, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(disk, minor, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(disk, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(disk, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(disk, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "By"),
	FIELD(disk, reads, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(disk, writes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "1"),
	FIELD(disk, busy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_DISK, "ns"),
	FIELD(disk, in_flight, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_DISK, "1"),
};

static const struct rt_field filesystem_fields[] = {
	FIELD(filesystem, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(filesystem, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(filesystem, major, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(filesystem, minor, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(filesystem, type, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(filesystem, source, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(filesystem, mount_point, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(filesystem, total_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
	FIELD(filesystem, used_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
	FIELD(filesystem, free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
	FIELD(filesystem, available_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_FILESYSTEM, "By"),
};

static const struct rt_field network_fields[] = {
	FIELD(network, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(network, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(network, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(network, receive_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(network, transmit_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "By"),
	FIELD(network, receive_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(network, transmit_packets, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(network, receive_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(network, transmit_errors, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(network, receive_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
	FIELD(network, transmit_drops, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_NETWORK, "1"),
};

static const struct rt_field zpool_fields[] = {
	FIELD(zpool, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(zpool, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(zpool, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(zpool, size_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(zpool, allocated_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(zpool, free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
};

static const struct rt_field command_process_fields[] = {
	FIELD(command_process, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_process, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_process, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(command_process, ppid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(command_process, exit_code, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(command_process, signal, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(command_process, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(command_process, partial, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(command_process, start_realtime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(command_process, end_realtime_ns, RT_TYPE_U64, RT_FIELD_META, 0, "ns"),
	FIELD(command_process, cpu_user_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(command_process, cpu_system_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_CPU, "ns"),
	FIELD(command_process, peak_rss_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_PEAK_RSS, "By"),
	FIELD(command_process, read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(command_process, write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_IO, "By"),
	FIELD(command_process, comm, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
};

static const struct rt_field opts_fields[] = {
	FIELD(opts, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, root, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(opts, want, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(opts, max_fds, RT_TYPE_U32, RT_FIELD_META, 0, "1"),
	FIELD(opts, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, pss_share, RT_TYPE_U32, RT_FIELD_META, 0, "10*-3"),
	FIELD(opts, pss_hold_us, RT_TYPE_U32, RT_FIELD_META, 0, "us"),
	FIELD(opts, message_size, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(opts, reserved_2, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(opts, message, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
};

static const struct rt_field command_opts_fields[] = {
	FIELD(command_opts, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, argv, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, envp, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, cwd, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, tracker, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, accounting, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, reserved, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(command_opts, fds, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
	FIELD(command_opts, fd_count, RT_TYPE_U32, RT_FIELD_META, 0, "1"),
	FIELD(command_opts, message_size, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(command_opts, message, RT_TYPE_POINTER, RT_FIELD_META, 0, ""),
};

static const struct rt_field constant_fields[] = {
	FIELD(constant, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(constant, group, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(constant, value, RT_TYPE_I64, RT_FIELD_META, 0, ""),
	FIELD(constant, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(constant, text, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
};

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

#define TABLE(of)                                                                                  \
	{                                                                                          \
		sizeof(struct rt_##of), sizeof(of##_fields) / sizeof(of##_fields[0]), of##_fields  \
	}

static const struct table {
	uint32_t struct_size, count;
	const struct rt_field *fields;
} tables[] = {
	[RT_STRUCT_RUSAGE] = TABLE(rusage),
	[RT_STRUCT_METRICS] = TABLE(metrics),
	[RT_STRUCT_DELTA] = TABLE(delta),
	[RT_STRUCT_OUTCOME] = TABLE(outcome),
	[RT_STRUCT_PROCESS] = TABLE(process),
	[RT_STRUCT_CPU] = TABLE(cpu),
	[RT_STRUCT_DISK] = TABLE(disk),
	[RT_STRUCT_FILESYSTEM] = TABLE(filesystem),
	[RT_STRUCT_NETWORK] = TABLE(network),
	[RT_STRUCT_ZPOOL] = TABLE(zpool),
	[RT_STRUCT_COMMAND_PROCESS] = TABLE(command_process),
	[RT_STRUCT_OPTS] = TABLE(opts),
	[RT_STRUCT_COMMAND_OPTS] = TABLE(command_opts),
	[RT_STRUCT_CONSTANT] = TABLE(constant),
	[RT_STRUCT_OBSTACLE] = TABLE(obstacle),
};

static const struct table *find(uint32_t struct_id)
{
	static const struct table none = { 0, 0, NULL };

	return struct_id < sizeof(tables) / sizeof(tables[0]) ? &tables[struct_id] : &none;
}

uint32_t rt_field_count(uint32_t struct_id)
{
	return find(struct_id)->count;
}

uint32_t rt_field_struct_size(uint32_t struct_id)
{
	return find(struct_id)->struct_size;
}

int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size)
{
	const struct table *table = find(struct_id);

	if (!out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_FIELD_V1) < 0 || index >= table->count)
		return -EINVAL;
	rti_struct_copy_out(out, out_size, &table->fields[index], sizeof(struct rt_field));
	return 0;
}
