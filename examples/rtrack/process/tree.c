/* SPDX-License-Identifier: MIT */
/* Operations on the single processes of a tree. */
#include "tree.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pidfd.h"

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

/* The descriptor is opened before the check, so it cannot be of a process that has reused the pid.
 * E.g.: pid 42 exits and is reused: the start time differs, and nothing is sent. */
static void signal_member(const struct rt_process *member, int signal)
{
	int fd = pidfd_open_of(member->pid);
	struct rt_process now;

	if (rt_pid_read(member->pid, RT_HAS_CPU, &now, sizeof(now)) == 0 &&
	    now.start_ticks == member->start_ticks)
		pidfd_signal(fd, member->pid, signal);
	if (fd >= 0)
		close(fd);
}

void tree_terminate(struct rt_tracker *tracker)
{
	static const int signals[] = { SIGTERM, SIGCONT };
	struct rt_metrics now;
	struct rt_process *members;
	size_t count;

	rt_sample(tracker, &now, sizeof(now));
	members = list_members(tracker, &count);
	for (size_t s = 0; members && s < sizeof(signals) / sizeof(signals[0]); s++) {
		for (size_t i = 0; i < count; i++) {
			if (!has_exited(&members[i]))
				signal_member(&members[i], signals[s]);
		}
	}
	free(members);
}

bool tree_is_running(struct rt_tracker *tracker)
{
	struct rt_metrics now;
	struct rt_process *members;
	size_t count, running = 0;

	if (rt_sample(tracker, &now, sizeof(now)) == -ESRCH)
		return false;
	members = list_members(tracker, &count);
	for (size_t i = 0; members && i < count; i++)
		running += !has_exited(&members[i]);
	free(members);
	return running > 0;
}

void tree_find_left(struct rt_tracker *tracker, struct tree_left *out)
{
	struct rt_metrics now;
	struct rt_process *members;
	size_t count;

	*out = (struct tree_left){ 0 };
	rt_sample(tracker, &now, sizeof(now));
	members = list_members(tracker, &count);
	for (size_t i = 0; members && i < count; i++) {
		const struct rt_process *m = &members[i];

		if (has_exited(m))
			continue;
		out->count++;
		if (m->state == 'D' && !out->stuck_pid) {
			out->stuck_pid = m->pid;
			snprintf(out->comm, sizeof(out->comm), "%s", m->comm);
		}
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

int32_t tree_parent(int32_t pid)
{
	char path[40], line[1024];
	const char *end = NULL;
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file))
		end = strrchr(line, ')'); /* the name may have any character */
	if (end)
		sscanf(end + 1, " %*c %d", &parent);
	if (file)
		fclose(file);
	return parent;
}

bool tree_is_ours(int32_t pid)
{
	int32_t ours = getpid();

	while (ours > 1 && ours != pid)
		ours = tree_parent(ours);
	return ours == pid;
}
