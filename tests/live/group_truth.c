/* SPDX-License-Identifier: MIT */
/* A cgroup (v2) that only the processes of a test are in. */
#include "group_truth.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"
#include "suite.h"

#define REMOVE_TRIES 1000 /* 1 s: a process leaves a moment after it could be waited for */

void group_truth_make(struct group_truth *group)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;

	ck_assert_ptr_nonnull(mounts);
	while ((entry = getmntent(mounts)))
		if (strcmp(entry->mnt_type, "cgroup2") == 0)
			break;
	ck_assert_ptr_nonnull(entry);
	snprintf(group->dir, sizeof(group->dir), "%s/rtrack-test-%d", entry->mnt_dir, getpid());
	endmntent(mounts);
	ck_assert_int_eq(mkdir(group->dir, 0755), 0);
}

void group_truth_join(const struct group_truth *group)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group->dir);
	file = fopen(path, "we");
	if (!file || fputs("0", file) < 0 || fclose(file) != 0)
		_exit(95);
}

uint64_t group_truth_cpu_ns(const struct group_truth *group)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/cpu.stat", group->dir);
	return 1000 * read_proc_value(path, "usage_usec");
}

void group_truth_remove(const struct group_truth *group)
{
	for (int i = 0; rmdir(group->dir) < 0 && i < REMOVE_TRIES; i++)
		usleep(1000);
}
