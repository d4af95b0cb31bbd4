/* SPDX-License-Identifier: MIT */
/* Who has left a tree, and in whose account it is. */
#ifndef RTI_DEPARTURES_H
#define RTI_DEPARTURES_H

#include "tree/tree.h"

/* All members were read, children before their parents: find those that have gone meanwhile, and read the accounts again
 * that may hold them. */
void rti_tree_reconcile(struct rti_tree *tree, const struct rti_context *ctx, struct rti_status *status);

/* Book those that have gone where their use is. They stay members until the sums are made. */
void rti_tree_depart(struct rti_tree *tree);

#endif
