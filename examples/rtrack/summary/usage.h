/* SPDX-License-Identifier: MIT */
/* What a process tree or the system used, as a summary shows it: from the outcome of a command, or
 * from samples. */
#ifndef USAGE_H
#define USAGE_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "follow/figures.h"
#include "follow/follow.h"
#include "top_processes.h"

/* What was measured: the bits of summary_field.kinds. */
enum usage_kind { USAGE_RUN = 1, USAGE_ATTACH = 2, USAGE_SYSTEM = 4 };

struct usage {
	enum usage_kind kind;
	const char *label;       /* --label, or NULL */
	const char *const *argv; /* the command, or of an attached process; NULL: unknown */
	int32_t pid;
	const char *cgroup; /* that rtrack attached to, or NULL */
	bool has_ended;     /* the root has ended */
	bool timed_out;
	/* The limit that ended the command: name of its option, and why; NULL: none. */
	const char *limit_passed, *limit_reason;
	/* The limit that was passed, though nothing was ended: likewise. */
	const char *limit_passed_late, *limit_late_reason;
	/* What passed it: one of them; 0: not that one. */
	uint64_t limit_wall_ns, limit_memory_bytes, limit_cpu_ns, limit_processes;
	/* All limits; 0: none. */
	uint64_t limit_timeout_ns, limit_max_memory_bytes, limit_max_cpu_ns, limit_max_processes;
	int32_t exit_code; /* -1: a signal did it, or it is not known */
	int32_t signal;
	int32_t exit_status; /* as in the shell: 128 plus the signal; -1: unknown */
	uint64_t start_realtime_ns, wall_ns;
	struct marks marks; /* of the fields below */
	uint64_t cpu_user_ns, cpu_system_ns, cpu_ns;
	uint64_t cpu_before_ns; /* used before rtrack attached */
	bool cpu_before_exact;
	uint64_t cpus;                    /* online */
	double cores_used, peak_cores;    /* negative: unknown */
	double peak_cores_least;          /* the peak is no less */
	bool peak_cores_exact;            /* peak_cores is of intervals that are all complete */
	double cpu_percent;               /* of one CPU; negative: unknown */
	uint64_t cpu_low_ns, cpu_high_ns; /* UINT64_MAX: nothing bounds it */
	uint64_t error_bound_ns;          /* UINT64_MAX: nothing bounds it */
	uint32_t accounting, reasons;
	const char *accounting_method; /* name of accounting */
	bool complete;
	uint64_t peak_rss_bytes, peak_tree_bytes, peak_needed_bytes;
	uint64_t peak_needed_low_bytes; /* 0: unknown */
	/* The parts of the largest footprint that was seen. */
	uint64_t footprint_anon_bytes, footprint_shmem_bytes, footprint_file_bytes;
	uint64_t footprint_hugetlb_bytes, footprint_swap_bytes;
	uint32_t peak_tree_kind;       /* RT_PEAK_ value; 0: unknown */
	const char *peak_kind;         /* name of peak_tree_kind, or NULL */
	uint64_t peak_tree_low_bytes;  /* 0: unknown */
	uint64_t peak_tree_high_bytes; /* UINT64_MAX: nothing bounds it */
	uint64_t read_bytes, write_bytes;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	uint64_t processes, processes_peak, members_skipped, left_running, samples;
	uint64_t samples_missed; /* set by the caller, like label */
	bool processes_exact;    /* processes is the number of all */
	uint64_t cgroup_memory_peak_bytes, cgroup_read_bytes, cgroup_write_bytes, cgroup_tasks_peak;
	uint64_t cgroup_oom_kills; /* of a cgroup that was attached to */
	/* Of the system. */
	uint64_t disk_read_bytes, disk_write_bytes, network_receive_bytes, network_transmit_bytes;
	uint64_t memory_total_bytes, peak_memory_used_bytes; /* the peak is 0 if unknown */
	/* Of the own cgroup, as struct own_limits has them. */
	double own_cores, own_cpus_allowed;
	uint64_t own_peak_memory_bytes, own_memory_limit_bytes;
	uint64_t overhead_cpu_ns;
	const struct history *cores, *memory;
	uint64_t gpu_busy_ns, gpu_memory_peak_bytes;
	uint64_t gpus;                       /* UINT64_MAX: unknown */
	double busy_gpus, gpu_energy_joules; /* negative: unknown */
	const char *gpu_note;                /* why there is no figure, or NULL */
	const struct top_processes *top;     /* NULL: not gathered */
	/* Why there is no supervisor, if RT_REASON_NO_SUPERVISOR is set. */
	const char *supervisor_problem;
	/* Why the I/O of a process may not be read; empty: none was refused. */
	char io_problem[256];
};

/* Fill from the outcome and the last sample of a command that has ended. */
void usage_of_command(struct usage *u, const struct rt_outcome *outcome, const struct follow *last);

/* Fill from the samples of a process tree that rtrack attached to. Counters count from then on. */
void usage_of_attached(struct usage *u, const struct follow *f);

/* Add why the I/O of a process may not be read, if the last sample met that. */
void usage_add_io_problem(struct usage *u, const struct rt_tracker *tracker);

/* A cgroup has used at least what its processes were seen to use. */
void usage_raise_cpu(struct usage *u, uint64_t seen_ns);

/* Fill from the samples of the system. */
void usage_of_system(struct usage *u, const struct follow *f);

#endif
