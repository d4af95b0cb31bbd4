/* SPDX-License-Identifier: MIT */
/* What the descendants of a process that were not waited for yet have used: what is missing from
 * getrusage(RUSAGE_CHILDREN) of that process. */
#ifndef RTI_LIVE_CHILDREN_H
#define RTI_LIVE_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

struct rti_live_children {
	struct rt_rusage usage;
	/* One bit for each field of it that is exact, or a lower bound. The masks are disjoint. */
	uint32_t valid, partial;
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* Read it. `reported` is what the kernel has just returned to the process for RUSAGE_CHILDREN.
 * Returns false if nothing is known, or if a child was waited for since: the sum of both would
 * count it twice. *out is all 0 then. */
bool rti_live_children_read(int32_t pid, const struct rt_rusage *reported,
                            struct rti_live_children *out);

#endif
