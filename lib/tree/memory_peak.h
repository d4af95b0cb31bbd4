/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#ifndef RTI_MEMORY_PEAK_H
#define RTI_MEMORY_PEAK_H

#include <stdbool.h>

#include "tree/tree.h"

/* What the sums of a sample say. Puts the peaks so far into it. */
void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out);

/* After that: where a sample has a new peak of RSS, and did not read PSS of all, read it if that
 * can be afforded. */
void rti_memory_peak_confirm(struct rti_tree *tree, const struct rti_context *ctx,
                             struct rt_metrics *out);

/* Look for peaks between two samples: sums RSS, and takes in members as they are heard of. */
void rti_memory_peak_poll(struct rti_tree *tree, const struct rti_context *ctx);

/* PSS was read when the largest sum of RSS was seen, or near that. */
bool rti_memory_peak_has_pss(const struct rti_tree *tree);

#endif
