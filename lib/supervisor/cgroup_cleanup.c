/* SPDX-License-Identifier: MIT */
/* Removes the cgroup that the program ran in. */
#include "supervisor/cgroup_cleanup.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* A callback of nftw(3). */
static int remove_directory(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : 0;
}

/* Remove a cgroup. Returns true if it is in use: processes run in it, or there are cgroups
 * below. */
static bool is_busy(const char *path)
{
	return rmdir(path) < 0 && (errno == EBUSY || errno == ENOTEMPTY);
}

/* Remove the directories, and any that the program has made below them. Returns false if one is in
 * use, so that it can be removed later. What may not be removed stays: a later command removes
 * it. */
static bool remove_cgroups(const char *dirs)
{
	bool are_removed = true;
	char path[1024];

	for (const char *at = dirs; at && *at;) {
		size_t len = strcspn(++at, "\n"); /* a letter precedes the path */

		if (len < sizeof(path)) {
			memcpy(path, at, len);
			path[len] = '\0';
			if (is_busy(path)) {
				nftw(path, remove_directory, 8, FTW_DEPTH | FTW_PHYS);
				are_removed &= !is_busy(path);
			}
		}
		at += len;
		at = *at ? at + 1 : NULL;
	}
	return are_removed;
}

/* Nothing of the process that was forked is kept in use. E.g.: a pipe ends with its last writer. */
static void release_all(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (syscall(SYS_close_range, 0, ~0u, 0) < 0) {
		for (int fd = 0; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
			close(fd);
	}
	if (chdir("/") < 0)
		return; /* nothing depends on it */
}

pid_t rts_cgroup_cleanup(const char *dirs)
{
	const struct timespec nap = { .tv_sec = 1 };
	pid_t pid = remove_cgroups(dirs) ? -1 : fork();

	if (pid != 0)
		return pid;
	release_all();
	while (!remove_cgroups(dirs))
		nanosleep(&nap, NULL);
	_exit(0);
}
