/* SPDX-License-Identifier: MIT */
/* Members as the lists of processes have them. */
#ifndef RTI_MEMBER_ROW_H
#define RTI_MEMBER_ROW_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

struct rti_tree;
struct rti_member;

/* A member as lists have it. */
struct rti_member_row {
	struct rt_process process; /* as of the last sample */
	/* The latest that is known, peak polls included; of an exited member, for good. */
	uint64_t known; /* RT_HAS_ bits of the fields below; each is a lower bound */
	uint64_t cpu_user_ns, cpu_system_ns;
	uint64_t read_bytes, write_bytes;
	uint64_t peak_rss_bytes; /* largest seen */
	bool is_running;         /* it has not exited and is no zombie */
};

/* Call each() for every member but our own supervisor, until it does not return RTI_CONTINUE: also
 * for members that a peak poll has found since the last sample. */
void rti_tree_each(const struct rti_tree *tree,
                   int (*each)(void *arg, const struct rti_member_row *row), void *arg);

/* The same for the members of the last sample, as they were then. */
void rti_tree_each_sampled(const struct rti_tree *tree,
                           int (*each)(void *arg, const struct rt_process *row), void *arg);

/* Call each() with two rows of every member of the last sample but our own supervisor, and of those
 * that it found to have ended (state X): as of the sample before and as of the last one. The first
 * row of a process that began after since_ns (CLOCK_BOOTTIME), the time of the sample before, has
 * counters of 0. An older process that was not yet a member has the counters of the last sample, so
 * that the difference is a lower bound of 0. */
void rti_tree_each_change(const struct rti_tree *tree, uint64_t since_ns,
                          void (*each)(void *arg, const struct rt_process *from,
                                       const struct rt_process *to),
                          void *arg);

/* Note at the end of a sample that the list has its members. For lib/tree alone. */
void rti_rows_begin(struct rti_tree *tree);

/* Keep the rows of the last sample. A poll calls it before it reads stat, statm or PSS of a member.
 * For lib/tree alone. */
void rti_rows_keep(struct rti_tree *tree);

/* Whether a member with this pid runs, that is, has not exited and is no zombie. */
bool rti_tree_is_running(const struct rti_tree *tree, int32_t pid);

/* Report a member that has exited to the command that asked for it, if any. For lib/tree alone. */
void rti_report_exit(const struct rti_tree *tree, const struct rti_member *m);

#endif
