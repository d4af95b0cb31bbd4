/* SPDX-License-Identifier: MIT */
/* Starts the program. */
#ifndef RTS_LAUNCH_H
#define RTS_LAUNCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* Start the program as a plain child with this signal mask. Returns 0 or -errno, which includes the
 * errno of a failing execve(2). */
int rts_launch_here(char **argv, const sigset_t *mask, pid_t *pid);

/* Start the program in a cgroup. dirs are its directories, as in supervisor_protocol.h. Sets bit i
 * of *placed if the program runs in the i-th. Returns 0 or -errno as above. If no process could be
 * placed in a directory that is needed, *pid is negative. */
int rts_launch_in_cgroup(char **argv, const sigset_t *mask, const char *dirs, pid_t *pid,
                         uint32_t *placed);

#endif
