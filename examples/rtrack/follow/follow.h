/* SPDX-License-Identifier: MIT */
/* A tracker with three of its samples: the first, the previous and the last. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "figures.h"
#include "history.h"
#include "members.h"
#include "options/options.h"

struct follow {
	struct rt_tracker *tracker;
	int32_t pid; /* set by the caller, like is_alone; 0 for the system and for a cgroup */
	/* Set by the caller: the name of the cgroup that is followed; NULL: none. */
	const char *cgroup;
	bool is_alone;          /* descendants are not followed */
	struct members members; /* only if rows are of single processes */
	/* CPU time that was used in the cgroup of an attached process, set by the caller at the
	 * end; UINT64_MAX: unknown. */
	uint64_t cgroup_growth_ns;
	/* Set by the caller if a command has ended that has left processes running: what they use
	 * from then on is not counted. */
	const struct rt_outcome *outcome;
	int64_t interval_ns; /* intended time between samples */
	struct rt_metrics base, before, now;
	struct rt_delta delta; /* from before to now */
	/* RT_HAS_ bits that a sample after base was marked with: what it lacked is in no later
	 * sample of the system. */
	uint64_t partial, estimated;
	uint64_t samples;
	uint64_t members_skipped; /* most in any one sample */
	bool has_ended;           /* all followed processes have ended */
	bool has_failed;          /* a sample failed, and that was reported */
	struct history cores, memory;
	/* The peaks of the last sample that had any: a later one may lack them, e.g. of a cgroup
	 * that is empty or gone. */
	struct marks peak_marks; /* of RT_HAS_PEAK_FOOTPRINT, _NEEDED and _RSS */
	uint64_t peak_tree_bytes, peak_tree_low_bytes, peak_needed_bytes, peak_rss_bytes;
	struct rt_metrics largest; /* the sample with the largest footprint */
	/* Largest cores_used that is no estimate, and whether all intervals were complete. */
	double cores_peak_least;
	bool is_cores_uncertain;
	double cpus;                    /* online; 0: not counted yet */
	double cpus_allowed;            /* that the process may run on; 0: not looked up yet */
	bool wants_gpu;                 /* set by the caller: GPUs are looked at */
	int64_t making_cpu_ns;          /* set by the caller: CPU time to make the tracker */
	uint64_t gpu_memory_peak_bytes; /* largest of a sample; likewise */
	uint64_t gpus_most;
	uint64_t cgroup_memory_peak_bytes; /* of the own cgroup, beside the system; likewise */
};

/* Returns the options for a tracker of a tree or a cgroup that measures these RT_HAS_ bits. Process
 * events of a tree are requested if descendants are followed. */
struct rt_opts follow_tracker_opts(const struct options *options, uint32_t kind, uint64_t want);

/* Begin with a first sample, from which the counters are counted. Returns 0 or a negative errno
 * value. */
int follow_start(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns);

/* Begin with a command that was started at this CLOCK_MONOTONIC time. All its counters were 0
 * then, so the first sample already gives a difference. */
void follow_start_from_zero(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns,
                            int64_t start_ns);

/* Take the next sample. Returns 0, also if all processes have ended and the sample holds the last
 * totals. Returns a negative errno value if it failed: then nothing changes, and the next sample
 * covers the interval as well. The first failure is reported. */
int follow_sample(struct follow *f);

/* Returns the number of CPUs online, of the system that is followed; 0: unknown. */
uint64_t follow_cpus(const struct follow *f);

/* Get the memory to show: the footprint of a tree; of the system, the memory in use.
 * Returns false if it is unknown. */
bool follow_memory(const struct follow *f, uint64_t *bytes);

#endif
