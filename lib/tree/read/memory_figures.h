/* SPDX-License-Identifier: MIT */
/* The memory of a tree and of its members as public figures. */
#ifndef RTI_MEMORY_FIGURES_H
#define RTI_MEMORY_FIGURES_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "tree/state/state.h"

/* Fill the fields about memory, after the sums. */
void rti_memory_set_figures(const struct rti_memory_state *memory, uint64_t want, uint64_t now_ns,
                            struct rt_metrics *out);

/* The same for one member. */
void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out);

#endif
