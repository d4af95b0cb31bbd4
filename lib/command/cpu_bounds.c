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

/* A fork and an exit alone cost 0.06 to 0.4 ms: in 1 ms of a short command several might hide. */
uint64_t rti_cpu_bounds_unnoticed(uint64_t total_ns)
{
	return rti_min(total_ns / 200 + 1000000, total_ns / 100);
}

struct rti_cpu_bounds rti_cpu_bounds(const struct rti_cpu_bounds_known *known)
{
	struct rti_cpu_bounds bounds = { .low_ns = known->low_ns, .high_ns = known->low_ns };
	uint64_t waited_ns = rti_add_saturated(known->low_ns, known->error_ns);
	uint64_t noise_ns, accounted_ns;

	if (known->is_covered_by_cgroup) {
		if (known->is_running)
			bounds.high_ns = UINT64_MAX; /* they use more from now on */
		return bounds;
	}
	noise_ns = known->growth_ns / 50 + RTI_TICK_MAX_NS;
	bounds.high_ns =
	    rti_add_saturated(rti_add_saturated(known->growth_ns, noise_ns), known->lag_ns);
	if (known->is_waited_for)
		bounds.high_ns = rti_min(bounds.high_ns, waited_ns);
	bounds.high_ns = rti_max(bounds.high_ns, known->low_ns);
	accounted_ns = rti_add_saturated(
	    rti_add_saturated(known->low_ns, rti_cpu_bounds_unnoticed(known->low_ns)),
	    known->overhead_ns);
	bounds.is_unverified = !known->is_waited_for &&
	                       (known->growth_ns == UINT64_MAX || known->growth_ns > accounted_ns);
	return bounds;
}
