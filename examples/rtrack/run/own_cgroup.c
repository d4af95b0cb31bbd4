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
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CGROUP_MEMORY };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	if (rt_cgroup_tracker_new(&tracker, line, &opts) < 0)
		return NULL;
	if (rt_sample(tracker, &m, sizeof(m)) == 0 && m.valid & RT_HAS_CGROUP_MEMORY)
		return tracker;
	rt_tracker_free(tracker);
	return NULL;
}

struct rt_tracker *own_cgroup_memory(const struct rt_command *command)
{
	struct rt_tracker *found = NULL;
	char path[64], line[1200];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/cgroup", rt_command_pid(command));
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (cgroup_line_has(line, "memory") && is_own(line))
			found = follow(line);
	}
	if (file)
		fclose(file);
	return found;
}
