/* SPDX-License-Identifier: MIT */
/* When a value of a process was read: as of which CPU clock, at what time. */
#ifndef RTI_STAMP_H
#define RTI_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct rti_stamp {
	uint64_t at_ns;    /* CLOCK_MONOTONIC; 0: never */
	uint64_t clock_ns; /* CPU time of the process at that time */
};

/* Whether the value is as old as age_ns, or was never read. */
static inline bool rti_stamp_is_older(const struct rti_stamp *stamp, uint64_t now_ns,
                                      uint64_t age_ns)
{
	return !stamp->at_ns || now_ns - stamp->at_ns >= age_ns;
}

#endif
