/* SPDX-License-Identifier: MIT */
/* Starts the program. */
#ifndef RTS_LAUNCH_H
#define RTS_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How the program is started. */
struct rts_launch_opts {
	char **argv;
	const sigset_t *mask; /* of signals */
	bool has_new_group, has_new_session;
};

/* Start the program as a plain child. Returns 0 or -errno, which includes the
 * errno of a failing execve(2). */
int rts_launch_here(const struct rts_launch_opts *opts, pid_t *pid);

/* Start the program in a cgroup. dirs are its directories, as in supervisor_protocol.h. Sets bit i
 * of *placed if the program runs in the i-th. Returns 0 or -errno as above. If no process could be
 * placed in a directory that is needed, *pid is negative. */
int rts_launch_in_cgroup(const struct rts_launch_opts *opts, const char *dirs, pid_t *pid,
                         uint32_t *placed);

#endif
