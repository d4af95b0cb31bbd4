/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#ifndef RTI_MEMORY_PEAK_H
#define RTI_MEMORY_PEAK_H

#include "tree/state/state.h"

/* Take a sample into the peaks, and fill them in. */
void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out);

/* What the footprint has been at least, though no sample or poll need have seen it: the largest peak
 * of one member, which the kernel knows. 0 if that may have a page several times, since a process
 * has mapped it as often. It is no bound: what was not read may have been. */
uint64_t rti_memory_peak_floor(const struct rti_tree *tree);

/* Look for peaks between two samples: at the memory of all members, with new ones. */
void rti_memory_peak_poll(struct rti_tree *tree);

#endif
