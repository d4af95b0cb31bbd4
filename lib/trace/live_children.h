/* SPDX-License-Identifier: MIT */
/* What the descendants of a process that were not waited for yet have used: what is missing from
 * getrusage(RUSAGE_CHILDREN) of that process. */
#ifndef RTI_LIVE_CHILDREN_H
#define RTI_LIVE_CHILDREN_H

#include <stdint.h>

#include <rtrack/rtrack.h>

/* Read it. `reported` is what the kernel has just returned to the process for RUSAGE_CHILDREN.
 * Returns one bit for each field of *out that is known. Returns 0 if a child was waited for since:
 * the sum of both would count it twice. *out and *at_ns are untouched then. */
uint32_t rti_live_children_read(int32_t pid, const struct rt_rusage *reported,
                                struct rt_rusage *out, uint64_t *at_ns);

#endif
