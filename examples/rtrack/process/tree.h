/* SPDX-License-Identifier: MIT */
/* Operations on the single processes of a tree. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

/* Send SIGTERM to all members that are running now, and then SIGCONT, without which a stopped one
 * would not act on it. */
void tree_terminate(struct rt_tracker *tracker);

/* Sample, and return true if a member is running. */
bool tree_is_running(struct rt_tracker *tracker);

/* What runs on though it was killed. */
struct tree_left {
	uint64_t count;
	int32_t
	    stuck_pid; /* the first one that is frozen or in uninterruptible sleep; 0: none is */
	char comm[64]; /* of that one */
};

/* Sample, and find the members that are running. */
void tree_find_left(struct rt_tracker *tracker, struct tree_left *out);

/* Returns true if all members of the last sample are zombies, which only wait to be reaped, or
 * rtrack, which would wait for its own end. E.g.: "rtrack attach $$ &" follows the shell that has
 * started it, and so itself. */
bool tree_has_ended(const struct rt_tracker *tracker);

/* Returns the parent of a process, or 0. */
int32_t tree_parent(int32_t pid);

/* Returns true if rtrack itself descends from this process. */
bool tree_is_ours(int32_t pid);

#endif
