/* SPDX-License-Identifier: MIT */
/* Processes that make memory resident, and then all hold it at the same time. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include <stdint.h>

/* Call once, before any holder is started. */
void prepare_holders(int count);

/* For a holder: measure this process, which has `own` bytes of known memory that no other process
 * maps, and wait for the end of the time that the memory is held. */
void hold(int holder, uint64_t own);

/* For the first process: wait until all hold. Call it once, after it has started them. */
void await_holders(void);

/* For the first process: let all exit. */
void release_holders(void);

/* What the processes of the tree may add at most to the memory that is known: code, stacks and
 * copied pages. `base` is the resident memory of the first process before all. */
uint64_t sum_overhead(uint64_t base);

/* The resident memory of the largest holder. */
uint64_t largest_holder(void);

#endif
