/* SPDX-License-Identifier: MIT */
/* A cgroup (v2) that only the processes of a test are in: the kernel's own account of their CPU
 * time, which no part of the library reads. */
#ifndef GROUP_TRUTH_H
#define GROUP_TRUTH_H

#include <stdint.h>
#include <sys/types.h>

struct group_truth {
	char dir[256];
	pid_t guard; /* the process that removes the cgroup if the test fails */
};

/* Make a cgroup. Fails the test if it cannot be made. */
void group_truth_make(struct group_truth *group);

/* Move the calling process into it. */
void group_truth_join(const struct group_truth *group);

/* CPU time of all that have been in it, in whole microseconds. */
uint64_t group_truth_cpu_ns(const struct group_truth *group);

/* Remove it, once its last process has ended. */
void group_truth_remove(const struct group_truth *group);

#endif
