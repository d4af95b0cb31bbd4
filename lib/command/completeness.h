/* SPDX-License-Identifier: MIT */
/* Completeness: what an outcome may claim to know, and which of its figures are lower bounds. Pure
 * arithmetic: no I/O, no clock.
 *
 * CPU time has three witnesses: the accounts of members, which hold what was waited for; the cgroup
 * of the tree, which needs no process that waits; and the cgroup around it, which other processes
 * share. I/O, faults, context switches and peaks have the first alone. So where the cgroup used
 * more CPU time than was waited for, CPU time is complete and the others are lower bounds. */
#ifndef RTI_COMPLETENESS_H
#define RTI_COMPLETENESS_H

#include <stdbool.h>
#include <stdint.h>

struct rti_completeness_known {
	uint32_t reasons;      /* RT_REASON_ bits, by samples and by the supervisor */
	uint64_t total_ns;     /* CPU time that the outcome reports */
	uint64_t accounted_ns; /* by the accounts of members alone */
	/* By process events; UINT64_MAX: unknown. See supervisor/wait_proof.h. */
	uint64_t unproven_ns, unwaited_ns, threads;
	uint64_t processes; /* by process events, where the above are known */
	/* Of the cgroup around the tree, as in cpu_bounds.h. */
	uint64_t growth_ns, overhead_ns, lag_ns;
	uint64_t tick_ns; /* of the kernel's scheduler */
	/* The tree was started in a cgroup of its own, and its account was read: it has at least
	 * what the accounts of members have; or less, since a member has left it. */
	bool is_covered_by_cgroup, is_above_cgroup;
	bool is_supervisor_lost;
	bool is_alone;        /* children do not count; samples have seen how the program ended */
	uint32_t left_cgroup; /* RTI_LEFT_ value */
	bool is_running;      /* members run on */
	bool has_threads;     /* a member was seen to have more than one */
};

struct rti_completeness {
	/* Why accounts of members may lack processes: all domains but CPU time depend on it. */
	uint32_t member_reasons;
	bool is_member_short; /* they do lack some, or that cannot be ruled out */
	uint32_t reasons;     /* of the outcome, that is of its CPU time */
	/* Threads that have ended may have lost more than a thousandth of the CPU time. */
	bool is_cpu_short;
	uint64_t low_ns, high_ns;
};

struct rti_completeness rti_completeness(const struct rti_completeness_known *known);

#endif
