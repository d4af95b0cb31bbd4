/* SPDX-License-Identifier: MIT */
/* The CPU time of the cgroup that an attached process is in. */
#include "target_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/cgroup_mounts.h"

#define MEMBERS_MAX 500 /* one file is read of each */
#define US_NS 1000u

/* Get the cgroup (v2) of a process. Returns 0; -ESRCH if it has exited; or -ENOENT. */
static int read_name(int32_t pid, char *name, size_t size)
{
	char path[64], line[1200];
	int err = -ENOENT;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/cgroup", pid);
	file = fopen(path, "re");
	if (!file)
		return -ESRCH;
	while (err < 0 && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		/* A path that leads up is outside the caller's cgroup namespace. */
		if (strncmp(line, "0::/", 4) == 0 && !strstr(line, "/..") &&
		    strlen(line + 3) < size) {
			strcpy(name, line + 3);
			err = 0;
		}
	}
	if (err < 0 && ferror(file))
		err = -ESRCH;
	fclose(file);
	return err;
}

/* Get the mount point of the v2 hierarchy, which must show all of it. Returns 0 or -ENOENT. */
static int find_mount(char *out, size_t size)
{
	FILE *list = cgroup_mounts_open();
	struct cgroup_mount mount;
	int err = -ENOENT;

	while (list && err < 0 && cgroup_mounts_next(list, &mount)) {
		if (mount.is_v2 && strcmp(mount.root, "/") == 0 && strlen(mount.point) < size) {
			strcpy(out, mount.point);
			err = 0;
		}
	}
	if (list)
		fclose(list);
	return err;
}

/* Returns UINT64_MAX if it is unknown. Sets the number of the file, which is not used again: a
 * cgroup that was made again under its name has another one, and an account that begins anew. */
static uint64_t read_usage_ns(const struct target_cgroup *group, uint64_t *inode)
{
	FILE *file = fopen(group->cpu_stat, "re");
	uint64_t us = UINT64_MAX;
	struct stat status;
	char line[128];

	if (!file)
		return us;
	*inode = fstat(fileno(file), &status) == 0 ? status.st_ino : 0;
	while (us == UINT64_MAX && fgets(line, sizeof(line), file))
		sscanf(line, "usage_usec %" SCNu64, &us);
	fclose(file);
	return us == UINT64_MAX ? us : us * US_NS;
}

void target_cgroup_init(struct target_cgroup *group, int32_t pid)
{
	char mount[128];

	*group = (struct target_cgroup){ 0 };
	if (find_mount(mount, sizeof(mount)) < 0 ||
	    read_name(pid, group->name, sizeof(group->name)) < 0) {
		group->name[0] = '\0';
		return;
	}
	snprintf(group->cpu_stat, sizeof(group->cpu_stat), "%s%s/cpu.stat", mount, group->name);
	group->start_ns = read_usage_ns(group, &group->inode);
	if (group->start_ns == UINT64_MAX)
		group->name[0] = '\0';
}

int target_cgroup_open_events(const char *name)
{
	char mount[128], path[1400];

	if (find_mount(mount, sizeof(mount)) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s/cgroup.events", mount, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool target_cgroup_is_empty(int events_fd)
{
	char text[128];
	ssize_t n = pread(events_fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return true;
	text[n] = '\0';
	return strstr(text, "populated 0") != NULL;
}

/* An exited process is in the root cgroup, or has no file any more. */
static bool is_inside(const struct target_cgroup *group, const struct rt_process *member)
{
	size_t len = strlen(group->name);
	char name[1024];
	int err;

	if (member->state == 'Z' || member->state == 'X' || len == 1)
		return true;
	err = read_name(member->pid, name, sizeof(name));
	return err == -ESRCH || (err == 0 && strncmp(name, group->name, len) == 0 &&
	                         (name[len] == '\0' || name[len] == '/'));
}

void target_cgroup_check(struct target_cgroup *group, const struct rt_tracker *tracker)
{
	struct rt_process *members;
	size_t count = MEMBERS_MAX;

	if (!group->name[0])
		return;
	members = calloc(count, sizeof(*members));
	if (!members || rt_tracker_processes(tracker, members, sizeof(*members), &count) < 0 ||
	    count > MEMBERS_MAX) {
		group->name[0] = '\0';
		count = 0;
	}
	for (size_t i = 0; i < count && group->name[0]; i++) {
		if (!is_inside(group, &members[i]))
			group->name[0] = '\0';
	}
	free(members);
}

uint64_t target_cgroup_growth(const struct target_cgroup *group)
{
	uint64_t inode = 0;
	uint64_t now_ns = group->name[0] ? read_usage_ns(group, &inode) : UINT64_MAX;

	if (now_ns == UINT64_MAX || now_ns < group->start_ns || inode != group->inode)
		return UINT64_MAX;
	return now_ns - group->start_ns;
}
