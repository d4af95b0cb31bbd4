/* SPDX-License-Identifier: MIT */
/* Reading one member of a tree: what the read policy says, in the order that proves its
 * identity. */
#ifndef RTI_MEMBER_READ_H
#define RTI_MEMBER_READ_H

#include "tree/state/state.h"

/* Before members are asked for, in each sample. */
void rti_begin_reads(struct rti_tree *tree);

/* What to ask the batch reader of a member in a sample. arg: a struct rti_tree. */
void rti_ask_for_sample(const void *arg, const struct rti_member *m, struct rti_batch_request *out);

/* Read a member and store its account. Afterwards end.has_exited is set, or read.alive_at has
 * moved. A process that has not run since the last time is taken to be as it was. */
void rti_read_member(struct rti_tree *tree, struct rti_member *m);

/* The same, whether it seems to have run or not: the clock of a process that is running may lag
 * by a tick, and it may have reaped a child in that time. */
void rti_force_read_member(struct rti_tree *tree, struct rti_member *m);

/* Read the account alone of a member that was not read yet. The member may have exited by the next
 * sample, and then the ledger has to know what it had used. */
void rti_read_account(struct rti_tree *tree, struct rti_member *m);

/* Read one file about the memory of a member. Returns 0 or -errno. */
int rti_read_statm(struct rti_tree *tree, struct rti_member *m, struct rti_pid_statm *out);
int rti_read_rollup(struct rti_tree *tree, struct rti_member *m, struct rti_smaps_rollup *out);
int rti_read_status(struct rti_tree *tree, struct rti_member *m, struct rti_pid_status *out);
int rti_read_smaps(struct rti_tree *tree, struct rti_member *m); /* into ctx->buf */

/* Whether rti_read_statm() has found the member there since the last call. */
bool rti_take_presence(struct rti_member *m);

/* Read the stat of a member again. Returns what rti_member_read_stat() does. */
int rti_read_member_stat(struct rti_tree *tree, struct rti_member *m);

/* The member was found to have exited. */
void rti_mark_exited(struct rti_tree *tree, struct rti_member *m);

/* Look whether a member is still there, and which parent it has by now. Returns 0, -ESRCH, or
 * another -errno: then its stat is stale. */
int rti_reread_stat(struct rti_tree *tree, struct rti_member *m);

#endif
