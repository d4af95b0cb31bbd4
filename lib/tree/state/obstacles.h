/* SPDX-License-Identifier: MIT */
/* Why figures of a tree are missing.
 *
 * What a member lacks is noted when the members are summed up, so a sample without obstacles does
 * nothing here. What follows from the state of the tree is found out by explain.c, when the
 * caller asks. */
#ifndef RTI_OBSTACLES_H
#define RTI_OBSTACLES_H

#include "tree/state/state.h"

/* The members are about to be summed up. */
void rti_obstacles_open(struct rti_obstacles *obstacles);

/* These domains of a member were not read in full. */
void rti_obstacles_note_member(struct rti_obstacles *obstacles, struct rti_member *m,
                               uint64_t unread);

/* All members were summed up: what was noted of them lasts until they are once more. */
void rti_obstacles_close(struct rti_obstacles *obstacles);

/* Begin the status of a sample: what was noted of members, what is lost for good, and which
 * processes could not be added. */
void rti_obstacles_begin_sample(struct rti_obstacles *obstacles,
                                const struct rti_discovery_state *d);

/* PSS was measured. Note why it is not exact, and the members that it could not be read of. */
void rti_obstacles_note_memory(struct rti_tree *tree);

/* So many members lack a figure of GPUs, for the reason of the first of them; pid 0: no single
 * one. */
void rti_obstacles_note_gpu(struct rti_tree *tree, uint64_t has, int err, int32_t pid,
                            uint64_t members);

/* These domains of a member that has exited are in no account. */
void rti_obstacles_note_lost(struct rti_obstacles *obstacles, struct rti_member *m, uint64_t lost);

/* No process has waited for a member: what it used after its last read is not known. */
void rti_obstacles_note_unwaited(struct rti_tree *tree, struct rti_member *m);

#endif
