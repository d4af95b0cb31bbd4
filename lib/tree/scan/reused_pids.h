/* SPDX-License-Identifier: MIT */
/* Pids of members that have exited, and that another process of the tree has by now. It becomes a
 * member once the former one is none any longer: in the next sample. */
#ifndef RTI_REUSED_PIDS_H
#define RTI_REUSED_PIDS_H

#include <stdbool.h>
#include <stdint.h>

struct rti_tree;

/* A process of the tree was forked with the pid of a member, which may be that process itself. */
void rti_reused_pids_note_fork(struct rti_tree *tree, int32_t pid);

/* Whether such a fork was noted. */
bool rti_reused_pids_has_fork(const struct rti_tree *tree, int32_t pid);

/* This sample lacks a process of the tree, since it has the pid of a member that has exited. */
void rti_reused_pids_set_lacking(struct rti_tree *tree);

/* At the start of a sample: add the processes that were forked, once no member has their pids. */
void rti_reused_pids_take(struct rti_tree *tree);

void rti_reused_pids_free(struct rti_tree *tree);

#endif
