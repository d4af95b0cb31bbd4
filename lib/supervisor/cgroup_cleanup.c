/* SPDX-License-Identifier: MIT */
/* Removing the cgroup that the program ran in. */
#include "supervisor/cgroup_cleanup.h"

#include <ftw.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : 0;
}

/* With what the program may have made below it. 1 when it is gone. */
static bool remove_cgroup(const char *path)
{
	if (rmdir(path) < 0)
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return access(path, F_OK) < 0;
}

/* A cgroup in which somebody runs on can be removed only when he has gone. A process of its own
 * waits for that, so that the host has no child that outlives the command. */
void rts_cgroup_cleanup(const char *path)
{
	const struct timespec nap = { .tv_sec = 1 };

	if (remove_cgroup(path) || fork() != 0)
		return;
	while (!remove_cgroup(path))
		nanosleep(&nap, NULL);
}
