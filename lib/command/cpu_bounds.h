/* SPDX-License-Identifier: MIT */
/* CPU bounds: between which values the CPU time of a tree lies. Pure arithmetic: no I/O, no
 * clock.
 *
 * What a tree is known to have used is the lower bound. It ran in a cgroup along with other
 * processes, so it cannot have used more than the whole cgroup. If the cgroup used no more than
 * is known of the tree, nothing of the tree can be missing. Nor can anything be if every process is
 * known to have been waited for, whatever other processes used. */
#ifndef RTI_CPU_BOUNDS_H
#define RTI_CPU_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct rti_cpu_bounds_known {
	uint64_t low_ns; /* what the tree is known to have used */
	/* What the enclosing cgroup used meanwhile, by its own account; UINT64_MAX: unknown. */
	uint64_t growth_ns;
	uint64_t overhead_ns; /* how much of that was ours */
	/* How far that account may lag: a tick for each CPU that may run a process of it. */
	uint64_t lag_ns;
	/* The tree has a cgroup to itself, and its account is in low_ns: nothing can be missing. */
	bool is_covered_by_cgroup;
	bool is_running; /* members run on */
	/* Every process is known to have been waited for; then no more than this can be missing. */
	bool is_waited_for;
	uint64_t error_ns;
};

struct rti_cpu_bounds {
	/* high_ns is UINT64_MAX if there is no bound, or if members run on. */
	uint64_t low_ns, high_ns;
	bool is_unverified; /* something may be missing without a trace */
};

/* By how much a cgroup's account grew between two reads, either of which may be UINT64_MAX for
 * unknown. */
uint64_t rti_cpu_bounds_growth(uint64_t start_ns, uint64_t end_ns);

/* How much CPU time of missing processes there may be in what is called complete: less than a
 * hundredth. */
uint64_t rti_cpu_bounds_unnoticed(uint64_t total_ns);

struct rti_cpu_bounds rti_cpu_bounds(const struct rti_cpu_bounds_known *known);

#endif
