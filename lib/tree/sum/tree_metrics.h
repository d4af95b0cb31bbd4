/* SPDX-License-Identifier: MIT */
/* Summing up the members of a tree into the figures of a sample. */
#ifndef RTI_TREE_METRICS_H
#define RTI_TREE_METRICS_H

#include "tree/state/state.h"

/* Fill the figures of a sample. All members were read, and exits are accounted for. If no member
 * has changed in this sample and the two before it, none is touched. */
void rti_tree_sum_up(struct rti_tree *tree, struct rt_metrics *out);

#endif
