/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#ifndef RTI_MEMORY_PEAK_H
#define RTI_MEMORY_PEAK_H

#include "tree/state/state.h"

/* Take a sample into the peaks, and fill them in. */
void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out);

/* Mark a peak that was seen: a lower bound, or an estimate. */
void rti_peak_note(const struct rti_peak *peak, uint64_t has, uint64_t *partial,
                   uint64_t *estimated);

/* Whether RSS of a member counts each page once, by all that is known. Then the footprint has been
 * as large as the largest peak of a member. That is no bound: what was not read may be mapped
 * several times. */
bool rti_memory_counts_once(const struct rti_tree *tree);

/* One member has reached this RSS since the mark. */
void rti_memory_raise_mark(const struct rti_tree *tree, struct rti_peak_mark *mark,
                           uint64_t rss_bytes);

/* Look for peaks between two samples: at the memory of all members, with new ones. */
void rti_memory_peak_poll(struct rti_tree *tree);

/* The same, also at members that have not run by their clocks: those may lag by a tick. */
void rti_memory_peak_poll_all(struct rti_tree *tree);

#endif
