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
	char **envp;          /* NULL: this process's */
	const char *cwd;      /* directory to start in, or "" */
	const char *dirs;     /* of the cgroup to start in, as in supervisor_protocol.h; or "" */
	const sigset_t *mask; /* of signals */
	bool has_new_group, has_new_session;
};

struct rts_launched {
	/* Negative if no process could be made, or placed in a directory that is needed. */
	pid_t pid;
	uint32_t placed; /* bit i: the program runs in the i-th directory */
	/* What an exec hands on to the program, at most: ru_maxrss of the process that executes it.
	 * A peak of the program up to this one does not show. */
	int64_t inherited_maxrss_kib;
};

/* Start the program, with default actions for SIGCHLD and SIGPIPE. All signals that may have a
 * handler are to be blocked. Returns 0 or -errno, which includes the errno of a failing
 * execve(2). */
int rts_launch(const struct rts_launch_opts *opts, struct rts_launched *out);

#endif
