/* SPDX-License-Identifier: MIT */
/* The set of processes that belong to a tree, built from fork events.
 *
 * No process is too short-lived to be counted. Pure: no system calls.
 *
 * A pid stays a member after its process exits: the other threads may outlive the leader and fork
 * again. The pid leaves the set when a process outside the tree forks and the pid is reused. */
#ifndef RTI_DESCENDANT_SET_H
#define RTI_DESCENDANT_SET_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_PIDS_MAX (1 << 22) /* PID_MAX_LIMIT, include/linux/threads.h */

/* Zeroed memory is the empty set. Pids outside 1 to RTI_PIDS_MAX - 1 are never members.
 * Invariant: alive is the number of bits in is_alive. */
struct rti_descendant_set {
	uint64_t is_member[RTI_PIDS_MAX / 64], is_alive[RTI_PIDS_MAX / 64];
	uint64_t count; /* all members so far, also if they have exited */
	uint64_t alive; /* members that are alive now */
	uint64_t alive_peak;
};

/* Returns true if a pid is a member, alive or not. */
bool rti_descendant_set_has(const struct rti_descendant_set *descendants, int32_t pid);
/* Returns true if a pid is a member that has not exited. */
bool rti_descendant_set_is_alive(const struct rti_descendant_set *descendants, int32_t pid);

/* Add a process that exists already. */
void rti_descendant_set_add(struct rti_descendant_set *descendants, int32_t pid);

/* Record a fork. If the parent is not a member, the child's pid leaves the set. Returns true if
 * the child is a member. */
bool rti_descendant_set_fork(struct rti_descendant_set *descendants, int32_t parent, int32_t child);

/* Record an exec. After it the one thread that is left has the pid of the process. The exit of
 * that pid may have been reported already, so the member counts as alive again. */
void rti_descendant_set_exec(struct rti_descendant_set *descendants, int32_t pid);

/* Record an exit. Does nothing if the pid is no member, or one that has exited. */
void rti_descendant_set_exit(struct rti_descendant_set *descendants, int32_t pid);

#endif
