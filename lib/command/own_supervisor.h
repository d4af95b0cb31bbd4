/* SPDX-License-Identifier: MIT */
/* A caller that is its own supervisor: RT_COMMAND_OWN_SUPERVISOR.
 *
 * The code is in lib/supervisor. Instead of a process of its own, the calls that wait for a
 * command run it. */
#ifndef RTI_OWN_SUPERVISOR_H
#define RTI_OWN_SUPERVISOR_H

#include "command/supervisor_handle.h"

/* Start a program. Returns 0 if it was started or cannot be, as s->started says; -EBUSY if the
 * caller cannot be its own supervisor now, so that nothing was changed; or another -errno: nothing
 * was started. */
int rti_own_supervisor_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts);

/* The program was seen: it may be reaped from now on. */
void rti_own_supervisor_proceed(struct rti_supervisor *s);

/* Add what wakes it to a sleep. Its first waker is already set. */
void rti_own_supervisor_prepare_sleep(struct rti_supervisor_sleep *out);

/* Count and reap what there is. Returns 0 if the program has ended, -EAGAIN if not, or -ECHILD if
 * its exit status is lost. */
int rti_own_supervisor_work(struct rti_supervisor *s);

/* Reap all that have ended, and write s->accounted. Returns 0 or -ECHILD. */
int rti_own_supervisor_account(struct rti_supervisor *s);

/* End it. A program that still runs is reaped later. */
void rti_own_supervisor_close(struct rti_supervisor *s);

#endif
