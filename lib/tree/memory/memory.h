/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment, and what is read for it. */
#ifndef RTI_MEMORY_H
#define RTI_MEMORY_H

#include <stdint.h>

#include "tree/state/state.h"

/* Once the root is known. want: RT_HAS_ bits of every sample. reads_pss: PSS is read, too. */
void rti_memory_init(struct rti_tree *tree, uint64_t want, bool reads_pss);
void rti_memory_set_root(struct rti_memory_state *memory, int32_t pid);
void rti_memory_free(struct rti_memory_state *memory);

/* Take over what this sample has read of the members, read what is due of their pages, and find out
 * how much memory the tree holds. */
void rti_memory_sample(struct rti_tree *tree);

/* The same for a peak poll that has noted all members. */
void rti_memory_poll(struct rti_tree *tree);

#endif
