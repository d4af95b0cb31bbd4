/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#ifndef RTI_MEMORY_PEAK_H
#define RTI_MEMORY_PEAK_H

#include "tree/state.h"

/* Raise the peaks by the sums of a sample, and write the peaks so far into it. */
void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out);

/* After that: if a sample has a new peak of RSS and did not read the PSS of all members, read it
 * if the budget can afford it. */
void rti_memory_peak_confirm(struct rti_tree *tree, struct rt_metrics *out);

/* Look for peaks between two samples: sums RSS, and adds new members. */
void rti_memory_peak_poll(struct rti_tree *tree);

/* Whether PSS was read when the largest sum of RSS was seen, or near it. */
bool rti_memory_peak_has_pss(const struct rti_tree *tree);

#endif
