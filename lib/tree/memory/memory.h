/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment: by PSS that was read where that is known well enough, else by
 * the model. */
#ifndef RTI_MEMORY_H
#define RTI_MEMORY_H

#include <stdint.h>

#include "tree/state/state.h"

/* Once the root is known. want: RT_HAS_ bits of every sample. */
void rti_memory_init(struct rti_tree *tree, uint64_t want);
void rti_memory_set_root(struct rti_memory_state *memory, int32_t pid);
void rti_memory_free(struct rti_memory_state *memory);

/* Take over what this sample has read of the members, read PSS if that is due, and find out how
 * much memory the tree holds. */
void rti_memory_sample(struct rti_tree *tree);

/* The same for a peak poll that has noted all members. A read would hold up the polls, so PSS is
 * read only if samples are rare, and if this may be a new peak. */
void rti_memory_poll(struct rti_tree *tree);

/* The largest sum so far. */
uint64_t rti_memory_peak_bytes(const struct rti_peak_state *peaks);

#endif
