/* SPDX-License-Identifier: MIT */
/* Finding the members of a tree: those who are heard of, and otherwise the children of those who may have forked. */
#ifndef RTI_SEARCH_H
#define RTI_SEARCH_H

#include "proctree.h"

/* Take in descendants that have come since the last time, and read the clocks of all members. Members move in memory. */
void rti_proctree_discover(struct rti_proctree *tree, const struct rti_context *ctx);

#endif
