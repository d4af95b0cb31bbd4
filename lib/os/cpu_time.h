/* SPDX-License-Identifier: MIT */
/* Units of CPU time, and its split into user and system time. */
#ifndef RTI_CPU_TIME_H
#define RTI_CPU_TIME_H

#include <stdint.h>
#include <sys/time.h>

#define RTI_US_NS 1000u

/* The longest clock tick of any kernel (CONFIG_HZ=100), ns. A counter that the kernel updates at
 * ticks lags by up to this much on each CPU. */
#define RTI_TICK_MAX_NS 10000000u

/* Of getrusage(2), which is exact to the microsecond. */
static inline uint64_t rti_timeval_to_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * RTI_US_NS;
}

/* Split an exact CPU time into user and system time, as the kernel does: in the ratio user_part
 * to both_parts, which is sampled at ticks. The two results add up to total_ns. */
void rti_split_cpu(uint64_t total_ns, uint64_t user_part, uint64_t both_parts, uint64_t *user_ns,
                   uint64_t *system_ns);

#endif
