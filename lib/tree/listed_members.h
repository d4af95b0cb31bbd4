/* SPDX-License-Identifier: MIT */
/* Members of a tree that has no root but a list of its processes, as a cgroup has. */
#ifndef RTI_LISTED_MEMBERS_H
#define RTI_LISTED_MEMBERS_H

#include "tree/state/state.h"

/* Add the processes of the list that are new, drop the members that have moved elsewhere, and read
 * the CPU clocks of all members. Members move in memory. */
void rti_update_listed(struct rti_tree *tree, rti_batch_ask *ask);

#endif
