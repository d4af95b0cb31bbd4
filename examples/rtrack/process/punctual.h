/* SPDX-License-Identifier: MIT */
/* Wakes up on time, though other programs want the CPU. */
#ifndef PUNCTUAL_H
#define PUNCTUAL_H

#include <stdint.h>

/* Ask the kernel to run this thread soon after it wakes up, if the time between samples is short.
 * It gets no larger share of the CPU for that. Call it when all other processes were started. */
void punctual_begin(int64_t interval_ns);

#endif
