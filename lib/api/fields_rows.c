/* SPDX-License-Identifier: MIT */
/* Fields of the rows that a tracker or a command lists. */
#include "api/field_tables.h"

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

FIELD_TABLE(process);

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

FIELD_TABLE(cpu);

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

FIELD_TABLE(disk);

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

FIELD_TABLE(filesystem);

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

FIELD_TABLE(network);

static const struct rt_field zpool_fields[] = {
	FIELD(zpool, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(zpool, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(zpool, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(zpool, size_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(zpool, allocated_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
	FIELD(zpool, free_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_ZFS, "By"),
};

FIELD_TABLE(zpool);

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
	FIELD(command_process, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(command_process, own_read_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "By"),
	FIELD(command_process, own_write_bytes, RT_TYPE_U64, RT_FIELD_COUNTER, 0, "By"),
	FIELD(command_process, command_line_bytes, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
	FIELD(command_process, cwd_bytes, RT_TYPE_U32, RT_FIELD_META, 0, "By"),
};

FIELD_TABLE(command_process);

static const struct rt_field gpu_fields[] = {
	FIELD(gpu, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, flags, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(gpu, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(gpu, id, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, source, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, pci_domain, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, pci_bus, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, pci_device, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, pci_function, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu, name, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(gpu, uuid, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(gpu, driver, RT_TYPE_CHARS, RT_FIELD_META, 0, ""),
	FIELD(gpu, busy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu, busy_share, RT_TYPE_DOUBLE, RT_FIELD_GAUGE, RT_HAS_GPU, "1"),
	FIELD(gpu, memory_used_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_GPU_MEMORY, "By"),
	FIELD(gpu, memory_total_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_GPU_MEMORY, "By"),
	FIELD(gpu, energy_uj, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU_ENERGY, "uJ"),
};

FIELD_TABLE(gpu);

static const struct rt_field gpu_process_fields[] = {
	FIELD(gpu_process, size, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu_process, gpu_id, RT_TYPE_U32, RT_FIELD_META, 0, ""),
	FIELD(gpu_process, pid, RT_TYPE_I32, RT_FIELD_META, 0, ""),
	FIELD(gpu_process, clients, RT_TYPE_U32, RT_FIELD_GAUGE, 0, "1"),
	FIELD(gpu_process, start_ticks, RT_TYPE_U64, RT_FIELD_META, 0, "{tick}"),
	FIELD(gpu_process, valid, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(gpu_process, estimated, RT_TYPE_U64, RT_FIELD_META, 0, ""),
	FIELD(gpu_process, render_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, compute_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, copy_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, decode_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, encode_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, other_ns, RT_TYPE_U64, RT_FIELD_COUNTER, RT_HAS_GPU, "ns"),
	FIELD(gpu_process, memory_bytes, RT_TYPE_U64, RT_FIELD_GAUGE, RT_HAS_GPU_MEMORY, "By"),
};

FIELD_TABLE(gpu_process);
