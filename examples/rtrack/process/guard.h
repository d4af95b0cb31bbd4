/* SPDX-License-Identifier: MIT */
/* A child of rtrack that kills another process as soon as rtrack is gone. */
#ifndef GUARD_H
#define GUARD_H

#include <stdint.h>

/* Begin to guard the tracer of a process: it would go on without rtrack, and if it is stopped, it
 * would be left as it is, with the command. Returns the guard, or 0 if there is none. */
int32_t guard_tracer_of(int32_t pid);

/* End a guard. Nothing if it is 0. */
void guard_end(int32_t guard);

#endif
