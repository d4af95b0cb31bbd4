/* SPDX-License-Identifier: MIT */
/* A process tree that never rests: the soak follows it. */
#ifndef CHURN_H
#define CHURN_H

#include <stdint.h>
#include <sys/types.h>

struct churn {
	pid_t pid;  /* the root */
	int end_fd; /* its other end, closed, ends the tree */
};

/* Start the tree: a root that forks children without a pause, which work, grow, start threads, fork
 * and execute programs. It waits for all of them. It is killed if this process ends. Returns 0 or
 * -errno. */
int churn_start(struct churn *churn);

/* Ask the root to exit, and wait until it is a zombie. Returns 0 or -errno. */
int churn_end(struct churn *churn);

/* Reap the root. Returns the CPU time of the whole tree by wait4(2), in ns, or 0 if there was none
 * to reap. */
uint64_t churn_reap(struct churn *churn);

#endif
