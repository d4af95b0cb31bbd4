/* SPDX-License-Identifier: MIT */
/* What the files of a member say of its memory: which member it has its memory from, and when it
 * moves on to another address space. */
#ifndef RTI_MEMORY_NOTE_H
#define RTI_MEMORY_NOTE_H

#include "tree/state/state.h"

/* A member was looked at. */
void rti_memory_note(struct rti_tree *tree, struct rti_member *m,
                     const struct rti_memory_look *look);

/* The same with what this sample has read of it. */
void rti_memory_note_figures(struct rti_tree *tree, struct rti_member *m);

/* Read the pages of a member once more, after its faults: the counts belong together then,
 * unless it has run meanwhile. Returns 0, -ESRCH if it is gone, or -errno. */
int rti_memory_look_again(struct rti_tree *tree, struct rti_member *m,
                          struct rti_memory_look *look);

/* A member has ended. */
void rti_memory_forget(struct rti_memory_state *memory, struct rti_member_table *table,
                       struct rti_member *m);

#endif
