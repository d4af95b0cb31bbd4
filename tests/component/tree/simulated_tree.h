/* SPDX-License-Identifier: MIT */
/* A tracker of the tree of the simulated kernel. */
#ifndef SIMULATED_TREE_H
#define SIMULATED_TREE_H

#include "api/tracker.h"
#include "os/protocol/supervisor_protocol.h"
#include "simulated_kernel.h"
#include "tree/tree.h"

/* Let a tracker read the clocks of the simulated kernel. */
void sim_set_clocks(struct rt_tracker *tracker);

/* Make the tree that of a command, with a supervisor and a cgroup if the rules say so. The caller
 * keeps *shared as long as the tracker. on_exit is as in struct rti_tree_command. */
void sim_attach_command(struct rt_tracker *tracker, const struct sim_rules *rules,
                        struct rti_shared_stats *shared,
                        void (*on_exit)(void *arg, const struct rti_member_row *row), void *arg);

#endif
