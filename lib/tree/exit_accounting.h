/* SPDX-License-Identifier: MIT */
/* Who has left a tree, and in whose account it is. */
#ifndef RTI_EXIT_ACCOUNTING_H
#define RTI_EXIT_ACCOUNTING_H

#include "tree/tree.h"

/* All members were read, children before their parents: find those that have gone meanwhile, and
 * read the accounts again that may hold them. */
void rti_exits_reconcile(struct rti_tree *tree, const struct rti_context *ctx,
                         struct rti_status *status);

/* Book those that have gone where their use is. They stay members until the sums are made. */
void rti_exits_account(struct rti_tree *tree);

#endif
