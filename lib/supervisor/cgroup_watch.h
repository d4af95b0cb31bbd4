/* SPDX-License-Identifier: MIT */
/* Finds processes of the tree that have left the cgroup (v2) that the program was started in. The
 * accounts of that cgroup then lack part of what they use. */
#ifndef RTS_CGROUP_WATCH_H
#define RTS_CGROUP_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"

/* Begin. The program is started in the supervisor's own cgroup, or in the one of this directory
 * below it; "": none. */
void rts_cgroup_watch_begin(struct rti_shared_stats *shared, const char *directory);

/* Let go of all processes. */
void rts_cgroup_watch_end(void);

/* Record whether a process or zombie has left. Does nothing if it is gone. */
void rts_cgroup_watch_check(pid_t pid);
/* A member was forked, which may be gone already: keep hold of it. */
void rts_cgroup_watch_fork(pid_t pid);
/* A member has exited. Records whether it had left, if it is not sure that a process waits for it:
 * what it used is in the account of the cgroup or in none. Needs Linux 6.15. */
void rts_cgroup_watch_exit(pid_t pid, bool is_waited_for);
/* The same as rts_cgroup_watch_check(), but some hundred times a second at most. now_ns is
 * CLOCK_MONOTONIC. */
void rts_cgroup_watch_sample(pid_t pid, uint64_t now_ns);

#endif
