/* SPDX-License-Identifier: MIT */
/* What a process tree used, from the outcome of a command or from samples. Summaries show it. */
#ifndef USAGE_H
#define USAGE_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "figures.h"
#include "follow.h"
#include "gpu.h"

struct usage {
	const char *const *argv; /* the command, or NULL if rtrack attached */
	int32_t pid;
	bool has_ended; /* the root has ended */
	bool timed_out;
	int32_t exit_code; /* -1: a signal did it */
	int32_t signal;
	uint64_t start_realtime_ns, wall_ns;
	struct marks marks; /* of the fields below */
	uint64_t cpu_user_ns, cpu_system_ns;
	uint64_t cpu_before_ns;           /* used before rtrack attached */
	uint64_t cpu_low_ns, cpu_high_ns; /* UINT64_MAX: nothing bounds it */
	uint64_t cpu_estimate_ns;
	uint64_t error_bound_ns; /* UINT64_MAX: nothing bounds it */
	uint32_t accounting, reasons;
	bool complete;
	uint64_t peak_rss_bytes, peak_tree_bytes;
	uint32_t peak_tree_kind;       /* RT_PEAK_ value; 0: unknown */
	uint64_t peak_tree_low_bytes;  /* 0: unknown */
	uint64_t peak_tree_high_bytes; /* UINT64_MAX: nothing bounds it */
	uint64_t read_bytes, write_bytes;
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	uint64_t processes, processes_peak, members_skipped, left_running, samples;
	uint64_t cgroup_memory_peak_bytes, cgroup_read_bytes, cgroup_write_bytes, cgroup_tasks_peak;
	uint64_t overhead_cpu_ns;
	const struct history *cores, *memory;
	struct gpu_use gpu;
};

/* Fill from the outcome and the last sample of a command that has ended. */
void usage_of_command(struct usage *u, const struct rt_outcome *outcome, const struct follow *last);

/* Fill from the samples of a process tree that rtrack attached to. Counters count from then on. */
void usage_of_attached(struct usage *u, const struct follow *f);

/* Returns the sum of user and system time. */
uint64_t usage_cpu_ns(const struct usage *u);

/* Returns "pss", "rss", "cgroup", or NULL if there is no peak. */
const char *usage_peak_kind(const struct usage *u);

#endif
