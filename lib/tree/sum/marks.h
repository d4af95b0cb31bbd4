/* SPDX-License-Identifier: MIT */
/* Which figures of a sample of a tree are complete, which are lower bounds, and why. */
#ifndef RTI_MARKS_H
#define RTI_MARKS_H

#include "tree/state/state.h"

/* All figures of a sample are filled in: set its masks, its reasons and its resolution. */
void rti_marks_set(struct rti_tree *tree, struct rt_metrics *out);

#endif
