/* SPDX-License-Identifier: MIT */
/* The members of a tree are looked at one after the other. What one had, another may have by the
 * time that it is looked at: then their sum was never held. */
#ifndef RTI_MEMORY_CONFIRM_H
#define RTI_MEMORY_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/state/state.h"

/* The largest sum so far. */
uint64_t rti_memory_peak_bytes(const struct rti_peak_state *peaks);

/* A sum above this is a new peak that is worth a read of PSS, and is confirmed. */
uint64_t rti_memory_new_peak_bytes(const struct rti_peak_state *peaks);

/* Whether a sum of this moment, or its lower bound, would be a new peak. */
bool rti_memory_has_new_peak(const struct rti_memory_state *memory,
                             const struct rti_peak_state *peaks);

/* Look at all members once more, and take back what some have no longer. Returns whether that has
 * changed any sum. For looks that took so long that they may be of different moments. */
bool rti_memory_confirm(struct rti_tree *tree);

#endif
