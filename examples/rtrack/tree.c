/* SPDX-License-Identifier: MIT */
/* Operations on the single processes of a tree. */
#include "tree.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns all members of the last sample, or NULL if there are none or they cannot be listed. The
 * caller frees them. */
static struct rt_process *list_members(const struct rt_tracker *tracker, size_t *count)
{
	struct rt_process *members;

	*count = 0;
	if (rt_tracker_processes(tracker, NULL, sizeof(*members), count) < 0 || *count == 0)
		return NULL;
	members = calloc(*count, sizeof(*members));
	if (!members || rt_tracker_processes(tracker, members, sizeof(*members), count) < 0) {
		free(members);
		return NULL;
	}
	return members;
}

static bool has_exited(const struct rt_process *member)
{
	return (member->state == 'Z' || member->state == 'X') && member->threads <= 1;
}

/* The pid of a member is reused by another process only if the member exits, is reaped, and all
 * other pids are used up within the microseconds since the sample. */
void tree_signal(struct rt_tracker *tracker, int signal)
{
	struct rt_metrics now;
	struct rt_process *members;
	size_t count;

	rt_sample(tracker, &now, sizeof(now));
	members = list_members(tracker, &count);
	for (size_t i = 0; members && i < count; i++) {
		if (!has_exited(&members[i]))
			kill(members[i].pid, signal);
	}
	free(members);
}

bool tree_has_ended(const struct rt_tracker *tracker)
{
	size_t count, ended = 0;
	struct rt_process *members = list_members(tracker, &count);
	pid_t self = getpid();

	for (size_t i = 0; members && i < count; i++)
		ended += has_exited(&members[i]) || members[i].pid == self;
	free(members);
	return members && ended == count;
}
