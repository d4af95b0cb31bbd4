/* SPDX-License-Identifier: MIT */
/* What members have done since the sample before. */
#ifndef RTI_MEMBER_CHANGE_H
#define RTI_MEMBER_CHANGE_H

#include <rtrack/rtrack.h>

struct rti_tree;
struct rti_member;

/* A sample begins: forget who ended before the last one. For lib/tree alone, as the next two. */
void rti_changes_begin(struct rti_tree *tree);

/* A member is about to be read: keep what the last sample knew of its counters. */
void rti_change_note_read(const struct rti_tree *tree, struct rti_member *m);

/* A member has ended. */
void rti_change_note_end(struct rti_tree *tree, const struct rti_member *m);

void rti_changes_free(struct rti_tree *tree);

/* Call each() with two rows of every member of the last sample but our own supervisor, and of those
 * that it found to have ended (state X): as of the sample before and as of the last one. The first
 * row of a process that began after since_ns (CLOCK_BOOTTIME), the time of the sample before, has
 * counters of 0; that of another one that was no member then has those of the last sample, which
 * make a lower bound of 0. */
void rti_tree_each_change(const struct rti_tree *tree, uint64_t since_ns,
                          void (*each)(void *arg, const struct rt_process *from,
                                       const struct rt_process *to),
                          void *arg);

#endif
