/* SPDX-License-Identifier: MIT */
/* How long to wait for a report of a supervisor: that its program has ended, or its account.
 *
 * It reports within 0.1 ms. But it may be stopped, be in a frozen cgroup, or be forbidden to wait
 * for its children. */
#include "command/late_report.h"

void rti_late_report_begin(struct rti_late_report *late, const struct rti_wait_bounds *bounds,
                           uint64_t now_ns, uint64_t cpu_ns)
{
	*late = (struct rti_late_report){
		.ended_ns = now_ns, .bounds = bounds, .cpu_ns = cpu_ns, .quiet_since_ns = now_ns
	};
}

uint64_t rti_late_report_next_ns(const struct rti_late_report *late, uint64_t now_ns)
{
	return late->ended_ns ? now_ns + late->bounds->late_ns : UINT64_MAX;
}

bool rti_late_report_is_late(const struct rti_late_report *late, uint64_t now_ns)
{
	return late->ended_ns && now_ns >= late->ended_ns + late->bounds->late_ns;
}

bool rti_late_report_is_given_up(struct rti_late_report *late, uint64_t now_ns, uint64_t cpu_ns,
                                 bool is_unwanted)
{
	uint64_t age_ns = now_ns - late->ended_ns;

	if (cpu_ns != late->cpu_ns) {
		late->cpu_ns = cpu_ns;
		late->quiet_since_ns = now_ns;
	}
	return now_ns - late->quiet_since_ns >= late->bounds->quiet_ns ||
	       age_ns >= late->bounds->busy_ns ||
	       (is_unwanted && age_ns >= late->bounds->unwanted_ns);
}
