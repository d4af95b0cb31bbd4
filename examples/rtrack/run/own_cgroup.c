/* SPDX-License-Identifier: MIT */
/* The kernel's account of the memory of a command that has a cgroup of its own. */
#include "own_cgroup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/cgroup_mounts.h"

/* The library calls it "rtrack-PID-NUMBER", by our pid. The command may have moved itself to
 * another one, where other programs run. */
static bool is_own(const char *line)
{
	char name[40];
	const char *last = strrchr(line, '/');

	snprintf(name, sizeof(name), "/rtrack-%d-", (int)getpid());
	return last && strncmp(last, name, strlen(name)) == 0;
}

/* Returns a tracker of the memory of the cgroup that a line names, or NULL without an account. */
static struct rt_tracker *follow(const char *line)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_OOM_KILLS };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	if (rt_cgroup_tracker_new(&tracker, line, &opts) < 0)
		return NULL;
	if (rt_sample(tracker, &m, sizeof(m)) == 0 && m.valid & RT_HAS_CGROUP_MEMORY)
		return tracker;
	rt_tracker_free(tracker);
	return NULL;
}

/* Find the first cgroup of the command's own with an account of memory. Returns its tracker, with
 * the line that names it, or NULL. */
static struct rt_tracker *find(const struct rt_command *command, char *line, size_t size)
{
	struct rt_tracker *found = NULL;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/cgroup", rt_command_pid(command));
	file = fopen(path, "re");
	while (file && !found && fgets(line, (int)size, file)) {
		line[strcspn(line, "\n")] = '\0';
		if (cgroup_line_has(line, "memory") && is_own(line))
			found = follow(line);
	}
	if (file)
		fclose(file);
	return found;
}

bool own_cgroup_of_memory(const struct rt_command *command, char *path, size_t size)
{
	char line[1200];
	struct rt_tracker *tracker = find(command, line, sizeof(line));
	const char *at = tracker ? strchr(line, '/') : NULL;

	rt_tracker_free(tracker);
	return at && snprintf(path, size, "%s", at) < (int)size;
}

struct rt_tracker *own_cgroup_memory(const struct rt_command *command)
{
	char line[1200];

	return find(command, line, sizeof(line));
}
