/* SPDX-License-Identifier: MIT */
/* Whether it pays to have the kernel watch a tree: what its programs cost at each switch of the
 * system, against what they save at each sample. */
#ifndef RTI_WATCH_CHOICE_H
#define RTI_WATCH_CHOICE_H

#include <stdbool.h>

struct rti_tree;

/* A watch was opened or closed. */
void rti_watch_choice_begin(struct rti_tree *tree);

/* A sample was taken. */
void rti_watch_choice_count(struct rti_tree *tree);

/* What the tracker itself uses counts twice what it costs others. A watch ends at a quarter of what
 * it begins at: so it does not waver. */
bool rti_watch_choice_opens(struct rti_tree *tree);
bool rti_watch_choice_closes(struct rti_tree *tree);

#endif
