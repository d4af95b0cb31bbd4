/* SPDX-License-Identifier: MIT */
/* Proves by process events that every process of the tree was waited for.
 *
 * The kernel reaps a child by itself if its parent ignores SIGCHLD (or has SA_NOCLDWAIT): what the
 * child used is then in no account. It does so before it reports the exit, and the report of a
 * process that is reaped already names no parent (drivers/connector/cn_proc.c,
 * proc_exit_connector(), since Linux 4.18). So an exit with a parent is of a zombie. The parent
 * waits for it, or exits, and then the supervisor adopts the zombie and waits for it.
 *
 * Two kinds of exits prove nothing. A parent that waits at once may be faster than the report, in
 * one of some thousand cases. And if a process has threads, its leader may exit first: the kernel
 * decides about the zombie when the last thread exits. What such a process and its children may
 * have used is bounded by the time for which it lived. */
#ifndef RTS_WAIT_PROOF_H
#define RTS_WAIT_PROOF_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"
#include "parse/process_event.h"

/* Begin. The results in the shared stats are unknown until rts_wait_proof_publish(). root is the
 * supervisor. Returns 0 or -ENOMEM. */
int rts_wait_proof_begin(struct rti_shared_stats *shared, pid_t root, uint64_t cpus);

/* Release the tables. */
void rts_wait_proof_end(void);

/* A member has forked another one. */
void rts_wait_proof_fork(const struct rti_process_event *event);
/* A member has started a thread. is_alive: no exit of the member has been handled. */
void rts_wait_proof_thread(const struct rti_process_event *event, bool is_alive);
/* A member has exited. is_parent_known: its parent is a member. Returns true if it is proven that a
 * process waits for it. */
bool rts_wait_proof_exit(const struct rti_process_event *event, bool is_parent_known);

/* There is no proof. E.g.: events were lost, or a tracer delays what the kernel decides. */
void rts_wait_proof_give_up(void);

/* Write the result to the shared stats. is_whole: all exits have been handled, except of processes
 * that still run. */
void rts_wait_proof_publish(bool is_whole);

#endif
