/* SPDX-License-Identifier: MIT */
/* The caller's marks: the largest figures of the tree since each one. */
#ifndef RTI_PEAK_MARK_H
#define RTI_PEAK_MARK_H

#include "tree/state/state.h"

/* Set a mark. The figures of this moment are the first. label may be NULL. Returns 0, -ENOSPC if
 * all are set, or -ENOMEM. */
int rti_peak_mark_set(struct rti_tree *tree, const char *label, uint64_t *id);

/* Fill in the figures, those of this moment included. Returns 0, or -ENOENT if it is not set. */
int rti_peak_mark_get(struct rti_tree *tree, uint64_t id, struct rt_peaks *out);

/* Returns 0, or -ENOENT if it is not set. */
int rti_peak_mark_remove(struct rti_peak_state *peaks, uint64_t id);

#endif
