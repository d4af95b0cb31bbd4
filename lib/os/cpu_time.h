/* SPDX-License-Identifier: MIT */
/* Splitting CPU time into user and system time. */
#ifndef RTI_CPU_TIME_H
#define RTI_CPU_TIME_H

#include <stdint.h>

/* One clock tick of the slowest kernel (CONFIG_HZ=100), ns. An account that the kernel updates
 * at ticks is late by up to this much for each CPU. */
#define RTI_TICK_MAX_NS 10000000u

/* Split an exact CPU time into user and system in the ratio that ticks have sampled, as the
 * kernel does. */
void rti_split_cpu(uint64_t total_ns, uint64_t user_part, uint64_t both_parts, uint64_t *user_ns,
                   uint64_t *system_ns);

#endif
