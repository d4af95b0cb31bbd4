/* SPDX-License-Identifier: MIT */
/* Which figures of a sample of a tree are complete, which are lower bounds, and why. */
#ifndef RTI_MARKS_H
#define RTI_MARKS_H

#include "tree/state.h"

/* Set the masks, the reasons and the resolution of a sample whose figures are filled in. */
void rti_marks_set(struct rti_tree *tree, struct rt_metrics *out);

#endif
