/* SPDX-License-Identifier: MIT */
/* Adding a process to a tree, if it belongs there, or noting why it cannot be added. For the files
 * that find new members. */
#ifndef RTI_NEW_MEMBERS_H
#define RTI_NEW_MEMBERS_H

#include "tree/state/state.h"

/* How many members one scan adds at most, so that a fork bomb cannot keep it going. */
#define RTI_NEW_MEMBERS_MAX 16384

/* A process may be missing from the tree because of this error. pid 0: unknown which. */
void rti_note_skipped(struct rti_discovery_state *d, const struct rti_context *ctx, int32_t pid,
                      int err);

/* Whether no more members may be added. Asked before anything is read of a process. */
bool rti_is_full(struct rti_tree *tree, int32_t pid);

/* Read the stat of a process that may be new. A process that has exited meanwhile is not missing;
 * one that cannot be read for another reason is noted. Returns 0 or -errno. */
int rti_read_new_stat(struct rti_tree *tree, int32_t pid, struct rti_file *file,
                      struct rti_pid_stat *out);

/* Add a process that belongs to the tree. file is taken if its stat may be cached. */
void rti_add_member(struct rti_tree *tree, const struct rti_pid_stat *stat, struct rti_file *file);

/* A member while its children are found one after the other. */
struct rti_parent {
	int32_t pid;
	/* Where its CPU clock stood before stat showed last that it is there; 0: it has not yet. */
	uint64_t clock_ns;
};

/* Add a process that a member may have forked, or one that was found to be. file is as
 * above. Returns whether the process was added. */
bool rti_add_child(struct rti_tree *tree, struct rti_parent *parent,
                   const struct rti_pid_stat *child, struct rti_file *file);

/* Add a process by the event of its fork. */
void rti_add_forked(struct rti_tree *tree, int32_t pid, bool has_exited);

/* Add a process that a member had forked before this time of CLOCK_BOOTTIME. */
void rti_add_forked_before(struct rti_tree *tree, int32_t pid, uint64_t time_ns);

/* Add a process that is no member yet, if its parent is one. */
void rti_add_by_parent(struct rti_tree *tree, int32_t pid);

/* Add a process that a list names, and that is no member yet. */
void rti_add_listed(struct rti_tree *tree, int32_t pid);

/* --- Pids of members that have exited, and that another process of the tree has by now. It becomes
 * a member once the former one is none any longer: in the next sample. --- */

/* A process of the tree was forked with the pid of a member, which may be that process itself. */
void rti_reused_pids_note_fork(struct rti_tree *tree, int32_t pid);

/* Whether such a fork was noted. */
bool rti_reused_pids_has_fork(const struct rti_reused_pids *r, int32_t pid);

/* This sample lacks a process of the tree, since it has the pid of a member that has exited. */
void rti_reused_pids_set_lacking(struct rti_reused_pids *r);

/* At the start of a sample: add the processes that were forked, once no member has their pids. */
void rti_reused_pids_take(struct rti_tree *tree);

void rti_reused_pids_free(struct rti_reused_pids *r);

/* --- What is missing: see struct rti_skipped. --- */

/* A process was skipped. pid 0: unknown which one, or how many. */
void rti_skipped_note(struct rti_skipped *skipped, const struct rti_context *ctx, int32_t pid);

/* A process became a member. If it started after others were skipped, it may be
 * another process than the skipped one with its pid. */
void rti_skipped_take(struct rti_skipped *skipped, const struct rti_context *ctx,
                      const struct rti_pid_stat *stat);

/* Whether some process that was skipped is no member yet, or has exited before it was one. */
bool rti_skipped_is_missing_any(const struct rti_skipped *skipped);

/* Forget what was skipped. */
void rti_skipped_free(struct rti_skipped *skipped);

#endif
