/* SPDX-License-Identifier: MIT */
/* How much memory the events of a trace may wait in. */
#ifndef RTI_RING_SIZE_H
#define RTI_RING_SIZE_H

#include <stdint.h>

struct rti_ring_size {
	uint32_t bytes;     /* a power of two */
	uint32_t min_bytes; /* the least that will do if the kernel has not so much */
};

/* asked: rt_trace_opts.ring_bytes; 0: so much that a burst of calls has room, and the cgroup of the
 * caller still has most of the memory that its limits leave. */
struct rti_ring_size rti_ring_size(uint32_t asked);

/* The same, by what the limits of cgroups leave; UINT64_MAX: there are none. */
uint32_t rti_ring_size_within(uint64_t left_bytes);

#endif
