/* SPDX-License-Identifier: MIT */
/* Removes the cgroup that the program ran in. */
#include "supervisor/cgroup_cleanup.h"

#include <ftw.h>
#include <stdbool.h>
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

/* A cgroup cannot be removed while a process runs in it. If one still does, a forked process waits
 * for its exit, so that the host has no child that outlives the command. */
void rts_cgroup_cleanup(const char *path)
{
	const struct timespec nap = { .tv_sec = 1 };

	if (remove_cgroup(path) || fork() != 0)
		return;
	while (!remove_cgroup(path))
		nanosleep(&nap, NULL);
}
