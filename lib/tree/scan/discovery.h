/* SPDX-License-Identifier: MIT */
/* Finding new members of a tree. */
#ifndef RTI_DISCOVERY_H
#define RTI_DISCOVERY_H

#include "tree/state/state.h"

/* To be called before all others. */
void rti_discovery_init(struct rti_discovery_state *d);

/* Start a tree at these processes, or with RT_OPT_SESSION at the session of the only one. Returns
 * as rti_add_roots(). */
int rti_discover_roots(struct rti_tree *tree, const int32_t *pids, size_t count);

/* Start the tree at another process instead, a child of this process, before the first sample.
 * Returns 0, or -ESRCH if there is no such process, which is a member all the same. */
int rti_replace_root(struct rti_member_table *table, const struct rti_context *ctx, int32_t pid);

/* Add the descendants that are new since the last call, and read the CPU clocks of all members.
 * ask says what their batch rows are to have. Members move in memory. */
void rti_discover_members(struct rti_tree *tree, rti_batch_ask *ask);

/* The same, and list the children of all members, even if they have not run. The supervisor
 * counts forks late, and the children of a process that ends move to its reaper, which has not run
 * meanwhile. */
void rti_discover_all_members(struct rti_tree *tree, rti_batch_ask *ask);

/* Add the members that process events report, and no others. */
void rti_discovery_take_events(struct rti_tree *tree);

/* Look once more for what runs. Those that do become members. Returns how many processes ran when
 * the events were taken, but not when they were looked at, and have forked others meanwhile. */
uint32_t rti_discovery_count_runaways(struct rti_tree *tree);

/* For members that come from a list instead: its begin, and its end, with the -errno for which the
 * list is incomplete, or 0. */
void rti_discovery_begin_list(struct rti_tree *tree);
void rti_discovery_end_list(struct rti_tree *tree, int err);

void rti_discovery_free(struct rti_discovery_state *d, const struct rti_context *ctx);

/* Add the descendants of all members. Returns 0, or -errno if /proc cannot be listed, or a process
 * that may be one cannot be looked at. */
int rti_scan_proc(struct rti_tree *tree);

/* The same where there are no children files. If /proc cannot be listed, this is noted. */
void rti_note_proc_scan(struct rti_tree *tree);

/* The children of a member may have changed: the next call lists them again, even if it has not
 * run. */
void rti_discovery_force_scan(struct rti_member *m);

/* A member has a child that the last scan took for another process: the next scan finds it, though
 * no pid was allocated since. */
void rti_discovery_look_for_child(struct rti_discovery_state *d, struct rti_member *parent);

/* The stat of a member was read again. A thread that was unknown when its children were listed
 * may have forked, and the children of one that has exited since may have moved to a thread that
 * was looked at before: both show in the number of threads. */
void rti_discovery_check_threads(struct rti_member *m);

/* Read again the pid that the kernel allocated last, to any process or thread of the pid
 * namespace: while it stands still, no process has forked. Reads one file. */
void rti_discovery_update_last_pid(struct rti_discovery_state *d, const struct rti_context *ctx);

/* Whether a member has children that run or can be waited for. Always true for a multi-threaded
 * process: checking would take one read per thread. */
bool rti_discovery_has_children(struct rti_tree *tree, struct rti_member *m);

#endif
