/* SPDX-License-Identifier: MIT */
/* Starting the program. */
#ifndef RTS_LAUNCH_H
#define RTS_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

/* As a plain child. 0 or -errno, that of a failing execve(2) included. */
int rts_launch_here(char **argv, const sigset_t *mask, pid_t *pid);

/* In a cgroup, given as a descriptor of its directory. The same; *pid is below 0 where no
 * process could be made in it. */
int rts_launch_in_cgroup(char **argv, const sigset_t *mask, int cgroup, pid_t *pid);

#endif
