/* SPDX-License-Identifier: MIT */
/* Starting programs: the only place that does. */
#ifndef RTI_PROGRAM_H
#define RTI_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct rti_buf;

struct rti_spawn {
	const char *const *argv;
	const char *const *envp; /* NULL: the caller's */
	const char *cwd;         /* NULL: the caller's */
	bool use_path;           /* search argv[0] in PATH */
	int stdout_fd;           /* -1: the caller's */
	bool is_quiet;           /* stdin and stderr from and to /dev/null */
	int keep_fd[2];          /* close-on-exec here, but open there; 0: none */
};

/* Start a program with an empty signal mask and default actions for SIGCHLD and SIGPIPE. 0 or
 * -errno, that of a failing execve included. The child is the caller's to wait for. */
int rti_spawn(const struct rti_spawn *how, int32_t *pid);

/* Run a program to its end and collect what it prints. 0; -ETIMEDOUT when it had to be killed;
 * -EIO when it failed; -EFBIG when it printed too much; or what rti_spawn() returns. It is
 * reaped in every case. */
int rti_spawn_output(const struct rti_spawn *how, uint64_t timeout_ns, struct rti_buf *out);

#endif
