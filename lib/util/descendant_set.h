/* SPDX-License-Identifier: MIT */
/* Who belongs to a tree, told by forks alone: nobody is too short-lived to be counted. Pure.
 *
 * A member stays one after its end, since threads may outlive the first of them and fork on; its
 * number is free again when somebody else's fork gives it away. */
#ifndef RTI_DESCENDANT_SET_H
#define RTI_DESCENDANT_SET_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_PIDS_MAX (1 << 22) /* PID_MAX_LIMIT, include/linux/threads.h */

struct rti_descendant_set {
	uint64_t is_member[RTI_PIDS_MAX / 64], is_alive[RTI_PIDS_MAX / 64];
	uint64_t count; /* of members that ever were */
	uint64_t alive; /* now */
	uint64_t alive_peak;
};

bool rti_descendant_set_has(const struct rti_descendant_set *descendants, int32_t pid);
bool rti_descendant_set_is_alive(const struct rti_descendant_set *descendants, int32_t pid);

/* Somebody who is there already belongs to it. */
void rti_descendant_set_add(struct rti_descendant_set *descendants, int32_t pid);

/* 1 when the child is a member. */
bool rti_descendant_set_fork(struct rti_descendant_set *descendants, int32_t parent, int32_t child);

/* An exec makes the one thread that is left the process, whose end may have been told by then. */
void rti_descendant_set_exec(struct rti_descendant_set *descendants, int32_t pid);

void rti_descendant_set_exit(struct rti_descendant_set *descendants, int32_t pid);

#endif
