/* SPDX-License-Identifier: MIT */
/* Which calls of this process do not return, whichever tracker made them.
 *
 * A thread in such a call cannot be ended. So a call on the same thing is not made a second time,
 * and none is made that may get stuck too while there are many. E.g.: a server does not answer, and
 * a hundred trackers ask for the space of its mount: one thread waits for it.
 *
 * Needs no lock, which another thread might hold during a fork(). A child does not count the calls
 * of its parent. */
#ifndef RTI_STUCK_CALLS_H
#define RTI_STUCK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_STUCK_CALLS_MAX 32

/* Returns true if a call on this thing should not be made now. pid is this process. */
bool rti_stuck_calls_prevent(int32_t pid, const char *thing);

/* Note that a call is stuck. Returns a number for rti_stuck_calls_remove(), or -1 if there are
 * too many to note. */
int rti_stuck_calls_add(int32_t pid, const char *thing);

/* Note that it has returned. at: what rti_stuck_calls_add() returned. */
void rti_stuck_calls_remove(int at);

#endif
