/* SPDX-License-Identifier: MIT */
/* The memory of a tree and of its members as public figures. */
#ifndef RTI_MEMORY_FIGURES_H
#define RTI_MEMORY_FIGURES_H

#include <rtrack/rtrack.h>

struct rti_tree;
struct rti_member;

/* Fill the fields about PSS, after the sums. */
void rti_memory_set_figures(const struct rti_tree *tree, struct rt_metrics *out);

/* The same for one member. */
void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out);

#endif
