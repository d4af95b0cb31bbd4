/* SPDX-License-Identifier: MIT */
/* A process in a cgroup that is frozen: by the freezer of v1 if it is mounted, else by v2. */
#ifndef FROZEN_H
#define FROZEN_H

#include <stdbool.h>
#include <sys/types.h>

/* Make a cgroup of the test. Returns false if that is not possible here. */
bool can_freeze(void);

/* Move a process there, and freeze it. can_freeze() comes before. */
void freeze(pid_t pid);

/* Let all of the cgroup go on. */
void thaw(void);

/* Remove the cgroup, once all of it have ended. */
void remove_freezer(void);

#endif
