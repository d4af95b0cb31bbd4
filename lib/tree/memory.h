/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment: by PSS that was read where that is known well enough, else by
 * the model. */
#ifndef RTI_MEMORY_H
#define RTI_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "collect/status.h"
#include "tree/memory_state.h"

struct rti_tree;

/* A member was looked at. */
void rti_memory_note(struct rti_tree *tree, struct rti_member *m,
                     const struct rti_memory_look *look);

/* Read the pages of a member once more, after its faults: the counts belong together then,
 * unless it has run meanwhile. Returns 0 or -errno. */
int rti_memory_look_again(struct rti_tree *tree, struct rti_member *m,
                          struct rti_memory_look *look);

/* A member has ended. */
void rti_memory_forget(struct rti_tree *tree, struct rti_member *m);

/* Take over what this sample has read of the members, read PSS if that is due, and find out how
 * much memory the tree holds. */
void rti_memory_sample(struct rti_tree *tree);

/* The same for a peak poll that has noted all members. A read would hold up the polls, so PSS is
 * read only if samples are rare, and if this may be a peak: above peak_bytes. */
void rti_memory_poll(struct rti_tree *tree, uint64_t peak_bytes);

/* Fill the fields about PSS, after the sums. */
void rti_memory_set_figures(const struct rti_tree *tree, struct rti_status *status,
                            struct rt_metrics *out);
/* The same for one member. */
void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out);

void rti_memory_free(struct rti_tree *tree);

#endif
