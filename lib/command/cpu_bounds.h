/* SPDX-License-Identifier: MIT */
/* The bracket: between which bounds the CPU time of a tree lies, from what is known of the tree
 * and of the cgroup around it. Pure arithmetic: no I/O, no clock.
 *
 * What a tree is known to have used is a lower bound. It ran in a cgroup along with others, so
 * it cannot have used more than all of them; and where they all used no more than is known of
 * the tree, nothing of it can be missing. */
#ifndef RTI_CPU_BOUNDS_H
#define RTI_CPU_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct rti_cpu_bounds_known {
	uint64_t low_ns; /* what the tree is known to have used */
	/* what the enclosing cgroup used meanwhile, by its own account; UINT64_MAX: unknown */
	uint64_t growth_ns;
	uint64_t overhead_ns; /* how much of that was ours */
	/* by how much that account may lag: a tick for each CPU that may be running somebody in
	 * there */
	uint64_t lag_ns;
	/* the tree has a cgroup to itself, whose account is in low_ns: nothing can be missing */
	bool is_covered_by_cgroup;
	bool is_running; /* members run on */
};

struct rti_cpu_bounds {
	/* high_ns is UINT64_MAX where nothing bounds it, or where members run on unbounded */
	uint64_t low_ns, high_ns;
	bool is_unverified; /* something may be missing that nobody has noticed */
};

/* From two readings of a cgroup's account, either of which may be UINT64_MAX for unknown. */
uint64_t rti_cpu_bounds_growth(uint64_t start_ns, uint64_t end_ns);

struct rti_cpu_bounds rti_cpu_bounds(const struct rti_cpu_bounds_known *known);

#endif
