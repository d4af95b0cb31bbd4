/* SPDX-License-Identifier: MIT */
/* Which members have forked, by the kernel's process events (proc connector).
 *
 * A member that has never forked has reaped nothing, so its stat need not be read for the account
 * of its children. Without events each fork on the machine may be that of each member. The tree
 * subscribes by itself, where it may and where it pays: the events of other programs cost time,
 * too. Only forks are received. */
#ifndef RTI_PARENTS_H
#define RTI_PARENTS_H

#include "tree/state.h"

/* Subscribe or unsubscribe, if the last sample shows that it pays. */
void rti_parents_begin_sample(struct rti_tree *tree);

/* Receive the events that wait. Before new members are looked for. */
void rti_parents_poll(struct rti_tree *tree);

/* Whether a member is known to have forked no process since its stat was read. */
bool rti_parents_knows_no_fork(const struct rti_tree *tree, const struct rti_member *m);

/* Its stat was read, after new members were looked for. */
void rti_parents_note_stat(struct rti_tree *tree, struct rti_member *m);

/* Its stat was read only since it may have forked; or was not read, since it has not. */
void rti_parents_count_stat(struct rti_tree *tree, bool was_spared);

void rti_parents_free(struct rti_tree *tree);

#endif
