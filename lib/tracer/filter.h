/* SPDX-License-Identifier: MIT */
/* The seccomp filter that stops a program in the calls that are traced, and in no others. */
#ifndef RTT_FILTER_H
#define RTT_FILTER_H

#include <stdint.h>

/* What a call is to the tracer: an RTI_TRACE_ bit of the calls; or this bit, if it changes the user
 * id or a namespace of its thread; or 0. */
#define RTT_CHANGES_IDENTITY 0x80u

uint32_t rtt_filter_meaning(uint32_t arch, uint64_t number);

/* The data of the filter's RET_TRACE for that meaning. The program may have filters of its own. */
uint32_t rtt_filter_data(uint32_t meaning);

/* Install the filter in the calling thread, for the calls that are asked for. Sets
 * PR_SET_NO_NEW_PRIVS if the kernel demands it. Returns 0 or a positive errno. */
int rtt_filter_install(uint32_t calls);

#endif
