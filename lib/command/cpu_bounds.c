/* SPDX-License-Identifier: MIT */
/* CPU bounds: between which values the CPU time of a tree lies. */
#include "command/cpu_bounds.h"

#include "os/cpu_time.h"
#include "util/arith.h"

uint64_t rti_cpu_bounds_growth(uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns == UINT64_MAX || end_ns == UINT64_MAX || end_ns < start_ns)
		return UINT64_MAX;
	return end_ns - start_ns;
}

/* The noise is what may go unnoticed: the root cgroup's account is sampled at ticks, and is
 * seldom off by more than this. */
static bool is_all_accounted_for(const struct rti_cpu_bounds_known *known)
{
	uint64_t noise_ns = known->low_ns / 100 + RTI_TICK_MAX_NS;

	return known->growth_ns != UINT64_MAX &&
	       known->growth_ns <= rti_add_saturated(rti_add_saturated(known->low_ns, noise_ns),
	                                             known->overhead_ns);
}

static uint64_t bound(const struct rti_cpu_bounds_known *known)
{
	uint64_t noise_ns = known->growth_ns / 50 + RTI_TICK_MAX_NS;
	uint64_t high_ns =
	    rti_add_saturated(rti_add_saturated(known->growth_ns, noise_ns), known->lag_ns);
	uint64_t waited_ns = rti_add_saturated(known->low_ns, known->error_ns);

	if (known->is_waited_for && high_ns > waited_ns)
		high_ns = waited_ns;
	return high_ns < known->low_ns ? known->low_ns : high_ns;
}

struct rti_cpu_bounds rti_cpu_bounds(const struct rti_cpu_bounds_known *known)
{
	struct rti_cpu_bounds bounds = { .low_ns = known->low_ns, .high_ns = known->low_ns };

	if (!known->is_covered_by_cgroup) {
		bounds.high_ns = bound(known);
		bounds.is_unverified = !known->is_waited_for && !is_all_accounted_for(known);
	} else if (known->is_running) {
		bounds.high_ns = UINT64_MAX; /* they use more from now on */
	}
	return bounds;
}
