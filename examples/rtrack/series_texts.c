/* SPDX-License-Identifier: MIT */
/* What the columns of a series mean: for rtrack info --fields. docs/units.md has definitions. */
#include <string.h>

#include "series_columns.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct text_of_name {
	const char *name; /* nanoseconds stand for seconds, too */
	const char *about;
};

static const struct text_of_name texts[] = {
	/* computed */
	{ "type", "sample" },
	{ "kind", "what the row is of: process (a tree), cgroup or system" },
	{ "timestamp", "time of the sample, since 1970" },
	{ "pid", "the process that was started or attached to" },
	{ "cgroup", "the cgroup that was attached to" },
	{ "children", "live descendants" },
	{ "cpu_seconds", "CPU time in user and kernel mode" },
	{ "gpus_busy", "GPUs in use in the interval: 1.5 is one always and one half of it" },
	{ "swap_used_bytes", "swap space in use" },
	{ "source", "where figures come from: proc, bpf or bpf-account" },
	{ "pss_source", "where pss_bytes comes from: read, cached or estimated" },
	{ "reasons", "why counters may be too low" },
	{ "partial", "the figures of the row that are lower bounds" },
	{ "estimated", "the figures of the row that may be above or below the truth" },
	/* differences alone */
	{ "interval_ns", "time since the row before, without time suspended" },
	{ "suspended_ns", "time that the system was suspended since the row before" },
	{ "cpu_user_ticks", "d_cpu_user_ns in clock ticks" },
	{ "cpu_system_ticks", "d_cpu_system_ns in clock ticks" },
	{ "ticks_per_second", "the clock tick" },
	{ "cores_used", "CPU time in the interval, divided by its length" },
	/* getrusage(2) */
	{ "ru_utime", "CPU time in user mode" },
	{ "ru_stime", "CPU time in kernel mode" },
	{ "ru_maxrss", "peak_rss_bytes in KiB" },
	{ "ru_minflt", "minor_faults" },
	{ "ru_majflt", "major_faults" },
	{ "ru_inblock", "read_bytes in units of 512 bytes" },
	{ "ru_oublock", "write_bytes in units of 512 bytes" },
	{ "ru_nvcsw", "voluntary_switches" },
	{ "ru_nivcsw", "involuntary_switches" },
	/* samples */
	{ "monotonic_ns", "CLOCK_MONOTONIC of the sample" },
	{ "boottime_ns", "CLOCK_BOOTTIME of the sample" },
	{ "realtime_ns", "CLOCK_REALTIME of the sample: the timestamp" },
	{ "self_cpu_ns", "CPU time that the samples have cost" },
	{ "cpu_user_ns", "CPU time in user mode" },
	{ "cpu_system_ns", "CPU time in kernel mode; system: with interrupts" },
	{ "rss_bytes", "sum of resident memory: shared pages count for each process" },
	{ "pss_bytes", "sum of proportional memory: shared pages are divided" },
	{ "peak_rss_bytes", "largest peak of one process" },
	{ "peak_tree_rss_bytes", "largest rss_bytes that was seen" },
	{ "peak_tree_pss_bytes", "largest sum of PSS that was read" },
	{ "peak_tree_bytes", "largest memory of all processes together that was seen" },
	{ "pss_age_ns", "age of the oldest read in pss_bytes" },
	{ "pss_low_bytes", "lower bound of pss_bytes" },
	{ "pss_high_bytes", "upper bound of pss_bytes" },
	{ "read_bytes", "bytes fetched from storage" },
	{ "write_bytes", "bytes sent to storage, or dirtied to be sent" },
	{ "cancelled_write_bytes", "bytes of write_bytes that were truncated before" },
	{ "read_chars", "bytes that read calls returned, from any file" },
	{ "write_chars", "bytes that write calls accepted, to any file" },
	{ "read_calls", "calls of read(2) and the like" },
	{ "write_calls", "calls of write(2) and the like" },
	{ "minor_faults", "page faults without I/O" },
	{ "major_faults", "page faults with I/O" },
	{ "voluntary_switches", "context switches of threads that waited" },
	{ "involuntary_switches", "context switches of threads that were preempted" },
	{ "processes", "processes, zombies included" },
	{ "processes_seen", "processes so far" },
	{ "threads", "threads" },
	{ "cpu_resolution_ns", "resolution of the CPU times" },
	{ "members_unreadable", "processes of which a figure could not be read" },
	{ "members_skipped", "processes that were left out of the sample" },
	{ "cpu_mode_user_ns", "user mode, without guests" },
	{ "cpu_mode_nice_ns", "user mode of niced processes, without guests" },
	{ "cpu_mode_system_ns", "kernel mode" },
	{ "cpu_mode_idle_ns", "idle" },
	{ "cpu_mode_iowait_ns", "idle while I/O is outstanding; unreliable" },
	{ "cpu_mode_irq_ns", "interrupts" },
	{ "cpu_mode_softirq_ns", "soft interrupts" },
	{ "cpu_mode_steal_ns", "used by the hypervisor" },
	{ "cpu_mode_guest_ns", "running a virtual machine" },
	{ "cpu_mode_guest_nice_ns", "running a niced virtual machine" },
	{ "cpus_online", "CPUs" },
	{ "processes_running", "threads that run or wait for a CPU" },
	{ "processes_blocked", "threads that wait for I/O" },
	{ "forks", "processes and threads created" },
	{ "context_switches", "context switches" },
	{ "interrupts", "interrupts" },
	{ "memory_total_bytes", "memory" },
	{ "memory_free_bytes", "memory that is not used for anything" },
	{ "memory_available_bytes", "memory that programs can get without swapping" },
	{ "memory_used_bytes", "total minus available memory" },
	{ "memory_used_classic_bytes", "total minus free, buffers, cached and reclaimable slab" },
	{ "memory_buffers_bytes", "Buffers of meminfo" },
	{ "memory_cached_bytes", "Cached of meminfo: page cache and shared memory" },
	{ "memory_cached_slab_bytes", "Cached and SReclaimable of meminfo" },
	{ "memory_slab_reclaimable_bytes", "SReclaimable of meminfo" },
	{ "memory_slab_unreclaimable_bytes", "SUnreclaim of meminfo" },
	{ "memory_active_bytes", "Active of meminfo" },
	{ "memory_inactive_bytes", "Inactive of meminfo" },
	{ "memory_active_anon_bytes", "Active(anon) of meminfo" },
	{ "memory_inactive_anon_bytes", "Inactive(anon) of meminfo" },
	{ "memory_active_file_bytes", "Active(file) of meminfo" },
	{ "memory_inactive_file_bytes", "Inactive(file) of meminfo" },
	{ "memory_anon_bytes", "AnonPages of meminfo" },
	{ "memory_mapped_bytes", "Mapped of meminfo" },
	{ "memory_shmem_bytes", "Shmem of meminfo: shared memory and tmpfs" },
	{ "swap_total_bytes", "swap space" },
	{ "swap_free_bytes", "swap space that is free" },
	{ "swap_cached_bytes", "swap space that is also in memory" },
	{ "disk_read_bytes", "bytes read from the disks" },
	{ "disk_write_bytes", "bytes written to the disks" },
	{ "disk_reads", "reads of the disks" },
	{ "disk_writes", "writes of the disks" },
	{ "disk_busy_ns", "time with I/O in flight, summed over the disks" },
	{ "disks", "disks in these totals" },
	{ "filesystem_total_bytes", "size of the local file systems" },
	{ "filesystem_used_bytes", "total minus free" },
	{ "filesystem_free_bytes", "free for root" },
	{ "filesystem_available_bytes", "free for users" },
	{ "filesystems", "file systems in these totals" },
	{ "filesystems_skipped", "file systems that did not answer in time" },
	{ "network_receive_bytes", "bytes received" },
	{ "network_transmit_bytes", "bytes sent" },
	{ "network_receive_packets", "packets received" },
	{ "network_transmit_packets", "packets sent" },
	{ "network_receive_errors", "errors when receiving" },
	{ "network_transmit_errors", "errors when sending" },
	{ "network_receive_drops", "packets dropped when receiving" },
	{ "network_transmit_drops", "packets dropped when sending" },
	{ "network_interfaces", "interfaces in these totals" },
	{ "load_1m", "load average over a minute" },
	{ "load_5m", "load average over 5 minutes" },
	{ "load_15m", "load average over 15 minutes" },
	{ "pressure_cpu_some_ns", "time in which some task waited for a CPU" },
	{ "pressure_memory_some_ns", "time in which some task waited for memory" },
	{ "pressure_memory_full_ns", "time in which all tasks waited for memory" },
	{ "pressure_io_some_ns", "time in which some task waited for I/O" },
	{ "pressure_io_full_ns", "time in which all tasks waited for I/O" },
	{ "zfs_size_bytes", "size of the ZFS pools" },
	{ "zfs_allocated_bytes", "space of the ZFS pools that is in use" },
	{ "zfs_free_bytes", "space of the ZFS pools that is free" },
	{ "zfs_pools", "ZFS pools" },
	{ "gpu_busy_ns", "time for which GPUs were busy, summed over them" },
	{ "gpu_memory_bytes", "memory of the GPUs that is in use" },
	{ "gpu_memory_total_bytes", "memory of the GPUs" },
	{ "gpu_energy_uj", "energy that the GPUs used" },
	{ "gpus", "GPUs" },
	{ "gpus_used", "GPUs that were busy in the last moments" },
	/* cgroups */
	{ "cgroup_memory_bytes", "all memory that is charged to the cgroup" },
	{ "cgroup_memory_anon_bytes", "anonymous memory of processes" },
	{ "cgroup_memory_file_bytes", "page cache, with shared memory and tmpfs" },
	{ "cgroup_memory_shmem_bytes", "shared memory and tmpfs" },
	{ "cgroup_memory_kernel_bytes", "memory that the kernel uses for the cgroup" },
	{ "cgroup_memory_limit_bytes", "least memory.max that holds; none: empty" },
	{ "cgroup_memory_high_bytes", "least memory.high that holds; none: empty" },
	{ "cgroup_memory_peak_bytes", "largest cgroup_memory_bytes since the cgroup was made" },
	{ "cgroup_swap_bytes", "swap space in use" },
	{ "cgroup_oom_kills", "processes that the kernel has killed for want of memory" },
	{ "cgroup_memory_high_events", "how often memory.high was exceeded" },
	{ "cgroup_memory_max_events", "how often memory.max was reached" },
	{ "cgroup_memory_oom_events", "how often an allocation was about to fail" },
	{ "cgroup_cpu_limit_millicores",
	  "least CPU quota that holds, 1000 is one CPU; none: empty" },
	{ "cgroup_cpu_periods", "periods of the quota in which there was something to run" },
	{ "cgroup_cpu_throttled_periods", "periods in which the quota was used up" },
	{ "cgroup_cpu_throttled_ns", "time of waiting for the next period, summed over the CPUs" },
	{ "cgroup_read_bytes", "bytes read from all devices" },
	{ "cgroup_write_bytes", "bytes written to all devices" },
	{ "cgroup_tasks", "threads of all processes" },
	{ "cgroup_tasks_limit", "least pids.max that holds; none: empty" },
	{ "cgroup_tasks_peak", "most cgroup_tasks since the cgroup was made" },
};

/* What means something else of one process, or is of processes alone. */
static const struct text_of_name texts_of_processes[] = {
	{ "kind", "member: a process of a tree or a cgroup" },
	{ "interval_ns", "time since the sample before, without time suspended" },
	{ "root_pid", "the process that was started or attached to" },
	{ "pid", "process id" },
	{ "ppid", "process id of the parent at the time of the sample" },
	{ "start_timestamp", "when the process began: no other process has this and the pid" },
	{ "start_ticks", "when the process began, in clock ticks since boot" },
	{ "name", "name: 15 bytes, which the process may set" },
	{ "command_line", "words of the command line; read again once a second at most" },
	{ "state", "letter of the kernel: R runs, S and D wait, T is stopped, Z has ended" },
	{ "cpu_user_ns", "CPU time in user mode, of its own threads" },
	{ "cpu_system_ns", "CPU time in kernel mode, of its own threads" },
	{ "cpu_seconds", "CPU time of its own threads" },
	{ "reaped_cpu_user_ns", "CPU time in user mode of children that it waited for" },
	{ "reaped_cpu_system_ns", "CPU time in kernel mode of children that it waited for" },
	{ "rss_bytes", "resident memory: shared pages count in full" },
	{ "pss_bytes", "proportional memory: shared pages are divided" },
	{ "peak_rss_bytes", "largest resident memory" },
	{ "pss_age_ns", "age of the read of pss_bytes" },
	{ "read_bytes", "bytes fetched from storage, also by children that it waited for" },
	{ "write_bytes", "bytes sent to storage, also by children that it waited for" },
	{ "cancelled_write_bytes", "bytes of write_bytes that were truncated before" },
	{ "read_chars", "bytes that read calls returned, also of children that it waited for" },
	{ "write_chars", "bytes that write calls accepted, also of children that it waited for" },
	{ "read_calls", "calls of read(2) and the like, also of children that it waited for" },
	{ "write_calls", "calls of write(2) and the like, also of children that it waited for" },
	{ "voluntary_switches", "context switches of its live threads when they waited" },
	{ "involuntary_switches", "context switches of its live threads when preempted" },
};

/* Returns the length of a name without its unit of time, or its whole length. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name);

	if (len > 3 && strcmp(name + len - 3, "_ns") == 0)
		return len - 3;
	if (len > 8 && strcmp(name + len - 8, "_seconds") == 0)
		return len - 8;
	return len;
}

static const char *find_text(const struct text_of_name *table, size_t count, const char *name)
{
	size_t len = stem_length(name);

	for (size_t i = 0; i < count; i++) {
		if (stem_length(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return table[i].about;
	}
	return NULL;
}

const char *column_about(const struct column *column, uint32_t kind)
{
	const char *name = strncmp(column->name, "d_", 2) == 0 ? column->name + 2 : column->name;
	const char *about = NULL;

	if (kind == KIND_MEMBERS || kind == KIND_CGROUP_MEMBERS)
		about = find_text(texts_of_processes, COUNT(texts_of_processes), name);
	if (!about)
		about = find_text(texts, COUNT(texts), name);
	if (!about && strncmp(name, "ru_", 3) == 0)
		return "always 0";
	return about ? about : "see rtrack.h";
}
