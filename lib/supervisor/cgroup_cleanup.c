/* SPDX-License-Identifier: MIT */
/* Removes the cgroup that the program ran in. */
#include "supervisor/cgroup_cleanup.h"

#include <ftw.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A callback of nftw(3). */
static int remove_directory(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : 0;
}

/* Remove a cgroup and those that the program may have made below it. Returns true if it no longer
 * exists. */
static bool remove_cgroup(const char *path)
{
	if (rmdir(path) < 0)
		nftw(path, remove_directory, 8, FTW_DEPTH | FTW_PHYS);
	return access(path, F_OK) < 0;
}

/* Returns true if none of the directories exists any longer. */
static bool remove_cgroups(const char *dirs)
{
	bool are_removed = true;
	char path[1024];

	for (const char *at = dirs; at && *at;) {
		size_t len = strcspn(++at, "\n"); /* a letter precedes the path */

		if (len < sizeof(path)) {
			memcpy(path, at, len);
			path[len] = '\0';
			are_removed &= remove_cgroup(path);
		}
		at += len;
		at = *at ? at + 1 : NULL;
	}
	return are_removed;
}

/* A cgroup cannot be removed while a process runs in it. If one still does, a forked process waits
 * for its exit, so that the host has no child that outlives the command. */
void rts_cgroup_cleanup(const char *dirs)
{
	const struct timespec nap = { .tv_sec = 1 };

	if (remove_cgroups(dirs) || fork() != 0)
		return;
	while (!remove_cgroups(dirs))
		nanosleep(&nap, NULL);
}
