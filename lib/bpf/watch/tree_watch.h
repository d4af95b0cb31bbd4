/* SPDX-License-Identifier: MIT */
/* A process tree that BPF programs in the kernel watch, which a plug-in loads: where it is
 * installed, the kernel can run them and we may load them.
 *
 * Owner: one tracker. After a fork the child has to close its copy: other calls return -ESTALE.
 * The programs go away with their last descriptor, so also if the process is killed. */
#ifndef RTI_TREE_WATCH_H
#define RTI_TREE_WATCH_H

#include "bpf/watch/watch.h"

struct rti_tree_watch;

/* Find the plug-in and load the programs, which takes 7 ms or more. Returns 0; -ENOENT if there is
 * no plug-in of this release, or the program is linked statically; -EPERM if we may not;
 * -EOPNOTSUPP if the kernel lacks something; or another -errno. */
int rti_watch_open(struct rti_tree_watch **out);

/* As in struct rti_watch_ops. */
void rti_watch_want(struct rti_tree_watch *watch, int32_t pid);
int rti_watch_search(struct rti_tree_watch *watch, uint64_t before_ns);
bool rti_watch_is_marked(const struct rti_tree_watch *watch, int32_t pid);
int rti_watch_take(struct rti_tree_watch *watch, struct rti_watch_change *changes, size_t room,
                   bool *has_more);
void rti_watch_count(const struct rti_tree_watch *watch, struct rti_watch_counts *out);

/* NULL is allowed. */
void rti_watch_close(struct rti_tree_watch *watch);

#endif
