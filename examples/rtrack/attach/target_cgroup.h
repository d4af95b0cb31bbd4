/* SPDX-License-Identifier: MIT */
/* The CPU time of the cgroup that an attached process is in: an upper bound of what its tree uses,
 * as long as the whole tree is in that cgroup. */
#ifndef TARGET_CGROUP_H
#define TARGET_CGROUP_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

struct target_cgroup {
	char name[1024];     /* as /proc/PID/cgroup has it; "" if the bound is not known */
	char cpu_stat[1200]; /* path of the file */
	uint64_t start_ns;   /* CPU time of the cgroup when rtrack attached */
	uint64_t inode;      /* of that file */
};

/* Find the cgroup (v2) of a process, and read how much CPU time has been used in it. */
void target_cgroup_init(struct target_cgroup *group, int32_t pid);

/* Check that all members of the last sample are in the cgroup, or in one below it. If one is not,
 * or there are too many to look at, nothing is bounded any more. */
void target_cgroup_check(struct target_cgroup *group, const struct rt_tracker *tracker);

/* Returns how much CPU time was used in the cgroup since the start, or UINT64_MAX if the tree may
 * have used more. */
uint64_t target_cgroup_growth(const struct target_cgroup *group);

/* Open the file of a cgroup (v2) that tells when its last process has ended: poll(2) returns
 * POLLPRI and POLLERR then. Returns -1 if there is none. */
int target_cgroup_open_events(const char *name);

/* Returns whether the cgroup has no process any more. To be called before each wait, too. */
bool target_cgroup_is_empty(int events_fd);

#endif
