/* SPDX-License-Identifier: MIT */
/* Names of the library's bits and constants: domains, reasons, accounting methods, sources. */
#include "figures.h"

#include <stdbool.h>

#include "json.h"

static const struct domain domains[] = {
	{ RT_HAS_CPU, "cpu", "CPU time", true, true },
	{ RT_HAS_RSS, "rss", "resident memory", true, false },
	{ RT_HAS_PSS, "pss", "proportional memory", true, false },
	{ RT_HAS_PEAK_RSS, "peak_rss", "peak resident memory", true, false },
	{ RT_HAS_PEAK_TREE, "peak_tree", "peak memory of the tree", true, false },
	{ RT_HAS_IO, "io", "bytes read and written", true, false },
	{ RT_HAS_IO_CALLS, "io_calls", "calls that read and wrote", true, false },
	{ RT_HAS_FAULTS, "faults", "page faults", true, false },
	{ RT_HAS_CTXSW, "context_switches", "context switches", true, false },
	{ RT_HAS_PROCESSES, "processes", "number of processes", true, true },
	{ RT_HAS_PROCESSES_SEEN, "processes_seen", "number of processes so far", true, false },
	{ RT_HAS_THREADS, "threads", "number of threads", true, true },
	{ RT_HAS_PROCESSES_PEAK, "processes_peak", "peak number of processes", false, false },
	{ RT_HAS_CGROUP_MEMORY, "cgroup_memory", "peak memory of the cgroup", false, false },
	{ RT_HAS_CGROUP_IO, "cgroup_io", "storage I/O of the cgroup", false, false },
	{ RT_HAS_CGROUP_TASKS, "cgroup_tasks", "peak number of cgroup tasks", false, false },
	{ RT_HAS_CPU_MODES, "cpu_modes", "CPU time by mode", false, true },
	{ RT_HAS_ACTIVITY, "activity", "forks, switches, interrupts", false, true },
	{ RT_HAS_MEMORY, "memory", "memory", false, true },
	{ RT_HAS_MEMORY_AVAILABLE, "memory_available", "available memory", false, true },
	{ RT_HAS_SWAP, "swap", "swap space", false, true },
	{ RT_HAS_DISK, "disk", "block devices", false, true },
	{ RT_HAS_FILESYSTEM, "filesystem", "file systems", false, true },
	{ RT_HAS_NETWORK, "network", "network interfaces", false, true },
	{ RT_HAS_LOAD, "load", "load averages", false, true },
	{ RT_HAS_PRESSURE_CPU, "pressure_cpu", "CPU pressure", false, true },
	{ RT_HAS_PRESSURE_MEMORY, "pressure_memory", "memory pressure", false, true },
	{ RT_HAS_PRESSURE_IO, "pressure_io", "I/O pressure", false, true },
	{ RT_HAS_ZFS, "zfs", "ZFS pools", false, true },
	{ RT_HAS_GPU, "gpu", "GPU time", true, true },
	{ RT_HAS_GPU_MEMORY, "gpu_memory", "memory of GPUs", true, true },
	{ RT_HAS_GPU_ENERGY, "gpu_energy", "energy of GPUs", false, true },
	{ RT_HAS_CGROUP_CPU, "cgroup_cpu", "limit and throttling of the cgroup", false, false },
	{ RT_HAS_CGROUP_MEMORY_PEAK, "cgroup_memory_peak", "peak memory", false, false },
	{ RT_HAS_CGROUP_MEMORY_KERNEL, "cgroup_memory_kernel", "kernel memory", false, false },
	{ RT_HAS_CGROUP_MEMORY_EVENTS, "cgroup_memory_events", "limits met", false, false },
	{ RT_HAS_CGROUP_OOM_KILLS, "cgroup_oom_kills", "processes killed", false, false },
	{ RT_HAS_CGROUP_SWAP, "cgroup_swap", "swap space of the cgroup", false, false },
	{ RT_HAS_CGROUP_TASKS_PEAK, "cgroup_tasks_peak", "peak number of tasks", false, false },
};

static const struct reason reasons[] = {
	{ RT_REASON_UNWAITED, "unwaited",
	  "a process exited and no parent in the tree waited for it" },
	{ RT_REASON_SIGCHLD_IGNORED, "sigchld_ignored",
	  "a process ignores SIGCHLD, so its children may be missing" },
	{ RT_REASON_UNREADABLE, "unreadable", "a process could not be read in full" },
	{ RT_REASON_LEFT_RUNNING, "left_running", "processes were still running at the end" },
	{ RT_REASON_ORPHANS_UNSEEN, "orphans_unseen",
	  "orphans that started and exited between two samples are not seen" },
	{ RT_REASON_UNVERIFIED, "unverified",
	  "nothing proves that every process was waited for, and other programs ran in the same "
	  "cgroup" },
	{ RT_REASON_LEFT_CGROUP, "left_cgroup",
	  "a process moved to another cgroup, so the account of this one is incomplete" },
	{ RT_REASON_NO_SUPERVISOR, "no_supervisor",
	  "no rtrack-supervisor of this release could be started" },
	{ RT_REASON_MEMBERS_SKIPPED, "members_skipped",
	  "the list of processes could not be read in full" },
	{ RT_REASON_CLOCK_ABOVE, "clock_above",
	  "the inherited clock counted more CPU time than the waited-for processes used" },
	{ RT_REASON_EVENTS_LOST, "events_lost",
	  "process events were lost, so processes may be missing" },
	{ RT_REASON_EVENTS_UNHEARD, "events_unheard",
	  "process events cannot be received here, so processes may be missing" },
	{ RT_REASON_CLOCK_TICKS, "clock_ticks",
	  "the kernel shows the CPU time of processes that were waited for in whole clock ticks" },
};

struct marks metrics_marks(const struct rt_metrics *m)
{
	return (struct marks){ m->valid, m->partial, m->estimated };
}

struct marks delta_marks(const struct rt_delta *d)
{
	return (struct marks){ d->valid, d->partial, d->estimated };
}

struct marks marks_replaced(struct marks marks, struct marks other, uint64_t bits)
{
	return (struct marks){
		(marks.valid & ~bits) | (other.valid & bits),
		(marks.partial & ~bits) | (other.partial & bits),
		(marks.estimated & ~bits) | (other.estimated & bits),
	};
}

bool is_known(struct marks marks, uint64_t bits)
{
	return ((marks.valid | marks.partial | marks.estimated) & bits) == bits;
}

bool is_informative(struct marks marks, uint64_t bits, uint64_t figure)
{
	return (marks.valid & bits) == bits || (figure > 0 && is_known(marks, bits));
}

const struct domain *domain_at(size_t index)
{
	return index < sizeof(domains) / sizeof(domains[0]) ? &domains[index] : NULL;
}

const struct reason *reason_at(size_t index)
{
	return index < sizeof(reasons) / sizeof(reasons[0]) ? &reasons[index] : NULL;
}

const char *accounting_name(uint32_t accounting)
{
	static const char *const names[] = {
		[RT_ACCOUNTING_AUTO] = "auto",           [RT_ACCOUNTING_POLL] = "poll",
		[RT_ACCOUNTING_WAIT] = "wait",           [RT_ACCOUNTING_CGROUP] = "cgroup",
		[RT_ACCOUNTING_WAIT_PERF] = "wait+perf", [RT_ACCOUNTING_BPF] = "bpf",
	};

	return accounting < sizeof(names) / sizeof(names[0]) ? names[accounting] : NULL;
}

const char *pss_source_name(uint32_t pss_source)
{
	static const char *const names[] = {
		[RT_PSS_READ] = "read",
		[RT_PSS_CACHED] = "cached",
		[RT_PSS_ESTIMATED] = "estimated",
	};

	return pss_source < sizeof(names) / sizeof(names[0]) ? names[pss_source] : NULL;
}

const char *source_name(uint32_t source)
{
	static const char *const names[] = {
		[RT_SOURCE_PROC] = "proc",
		[RT_SOURCE_BPF] = "bpf",
		[RT_SOURCE_BPF_ACCOUNT] = "bpf-account",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : NULL;
}

static void add_name(struct text *t, const char *name, const char *gap, bool *has_some)
{
	text_add(t, *has_some ? gap : "");
	text_add(t, name);
	*has_some = true;
}

void text_domains(struct text *t, uint64_t bits, const char *gap)
{
	const struct domain *domain;
	bool has_some = false;

	for (size_t i = 0; (domain = domain_at(i)); i++) {
		if (bits & domain->bit)
			add_name(t, domain->name, gap, &has_some);
	}
}

void text_reasons(struct text *t, uint32_t bits, const char *gap)
{
	const struct reason *reason;
	bool has_some = false;

	for (size_t i = 0; (reason = reason_at(i)); i++) {
		if (bits & reason->bit)
			add_name(t, reason->name, gap, &has_some);
	}
}

void json_domains(struct text *t, const char *key, uint64_t bits)
{
	const struct domain *domain;

	json_begin(t, key, '[');
	for (size_t i = 0; (domain = domain_at(i)); i++) {
		if (bits & domain->bit)
			json_string(t, NULL, domain->name);
	}
	json_end(t, ']');
}

void json_reasons(struct text *t, const char *key, uint32_t bits)
{
	const struct reason *reason;

	json_begin(t, key, '[');
	for (size_t i = 0; (reason = reason_at(i)); i++) {
		if (bits & reason->bit)
			json_string(t, NULL, reason->name);
	}
	json_end(t, ']');
}
