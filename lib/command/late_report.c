/* SPDX-License-Identifier: MIT */
/* How long to wait for a report of a supervisor: that its program has ended, or its account.
 *
 * It reports within 0.1 ms. But it may be stopped, be in a frozen cgroup, or be forbidden to wait
 * for its children. */
#include "command/late_report.h"

#define LOOK_EVERY_NS UINT64_C(10000000)
#define QUIET_MAX_NS UINT64_C(2000000000)   /* without CPU time */
#define AGE_MAX_NS UINT64_C(60000000000)    /* with it */
#define UNWANTED_AGE_NS UINT64_C(100000000) /* once the caller asks to end */

void rti_late_report_begin(struct rti_late_report *late, uint64_t now_ns, uint64_t cpu_ns)
{
	*late = (struct rti_late_report){ .ended_ns = now_ns,
		                          .cpu_ns = cpu_ns,
		                          .quiet_since_ns = now_ns };
}

uint64_t rti_late_report_next_ns(const struct rti_late_report *late, uint64_t now_ns)
{
	return late->ended_ns ? now_ns + LOOK_EVERY_NS : UINT64_MAX;
}

bool rti_late_report_is_late(const struct rti_late_report *late, uint64_t now_ns)
{
	return late->ended_ns && now_ns >= late->ended_ns + LOOK_EVERY_NS;
}

bool rti_late_report_is_given_up(struct rti_late_report *late, uint64_t now_ns, uint64_t cpu_ns,
                                 bool is_unwanted)
{
	uint64_t age_ns = now_ns - late->ended_ns;

	if (cpu_ns != late->cpu_ns) {
		late->cpu_ns = cpu_ns;
		late->quiet_since_ns = now_ns;
	}
	return now_ns - late->quiet_since_ns >= QUIET_MAX_NS || age_ns >= AGE_MAX_NS ||
	       (is_unwanted && age_ns >= UNWANTED_AGE_NS);
}
