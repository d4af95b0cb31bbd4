/* SPDX-License-Identifier: MIT */
/* Allocations of the library that fail as the test says. A test that is linked with this file wraps
 * the functions that allocate: see meson.build. */
#ifndef ALLOCATION_FAULTS_H
#define ALLOCATION_FAULTS_H

#include <stdbool.h>

/* From now on the allocation with this number fails, from 1 on, and with is_lasting all after it.
 * 0: none fails. */
void allocation_faults_begin(unsigned at, bool is_lasting);

/* Leave out what the test itself allocates meanwhile. */
void allocation_faults_pause(bool is_paused);

/* End that. Returns whether the allocation was reached. */
bool allocation_faults_end(void);

/* Returns how many blocks were allocated between the two calls, and not freed. */
int allocation_faults_blocks(void);

#endif
