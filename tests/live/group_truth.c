/* SPDX-License-Identifier: MIT */
/* A cgroup (v2) that only the processes of a test are in. */
#include "group_truth.h"

#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "suite.h"

#define REMOVE_TRIES 1000 /* 1 s: a process leaves a moment after it could be waited for */

static void remove_dir(const struct group_truth *group)
{
	for (int i = 0; rmdir(group->dir) < 0 && i < REMOVE_TRIES; i++)
		usleep(1000);
}

static void kill_members(const struct group_truth *group)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.kill", group->dir);
	file = fopen(path, "we"); /* since Linux 5.14 */
	if (file) {
		fputs("1", file);
		fclose(file);
	}
}

/* The guard. Its parent is the test, which has blocked SIGTERM. */
static void await_end_of(pid_t test, const struct group_truth *group)
{
	sigset_t end;
	int number;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == test)
		sigwait(&end, &number);
	kill_members(group);
	remove_dir(group);
	_exit(0);
}

/* A test that fails ends before it removes the cgroup. Then the guard does it. */
static void start_guard(struct group_truth *group)
{
	sigset_t end, before;
	pid_t test = getpid(), guard;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, &before);
	guard = fork();
	if (guard == 0)
		await_end_of(test, group);
	ck_assert_int_gt(guard, 0);
	group->guard = guard;
	setpgid(guard, guard); /* not that of the test, which is killed with it */
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void group_truth_make(struct group_truth *group)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;

	ck_assert_ptr_nonnull(mounts);
	while ((entry = getmntent(mounts)))
		if (strcmp(entry->mnt_type, "cgroup2") == 0)
			break;
	ck_assert_ptr_nonnull(entry);
	snprintf(group->dir, sizeof(group->dir), "%s/rtrack-test-XXXXXX", entry->mnt_dir);
	endmntent(mounts);
	ck_assert_ptr_nonnull(mkdtemp(group->dir));
	start_guard(group);
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
	remove_dir(group);
	kill(group->guard, SIGKILL);
	waitpid(group->guard, NULL, 0);
}
