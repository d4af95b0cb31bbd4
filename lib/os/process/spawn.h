/* SPDX-License-Identifier: MIT */
/* Starts programs: the only code of the library that does. */
#ifndef RTI_SPAWN_H
#define RTI_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_buf;
struct rti_origin_file;
struct rt_fd;

/* What to start and how. */
struct rti_spawn {
	const char *const *argv;
	const char *const *envp;            /* NULL: the caller's */
	const char *cwd;                    /* NULL: the caller's */
	bool use_path;                      /* search argv[0] in PATH */
	const struct rti_origin_file *file; /* the program, whatever argv[0] says; NULL: argv[0] */
	int stdout_fd;                      /* -1: the caller's */
	bool is_quiet;                      /* stdin and stderr are /dev/null */
	int keep_fd[2]; /* close-on-exec in the caller, open in the child; 0: none */
	/* More descriptors. None of their targets is one of keep_fd. */
	const struct rt_fd *fds;
	size_t fd_count;
	bool has_only_fds; /* 0, 1, 2, fds and keep_fd */
	bool has_new_group, has_new_session;
};

/* Start a program with an empty signal mask and default actions for SIGCHLD and SIGPIPE. Returns 0
 * or -errno, which includes the errno of a failing execve(2). On success the caller must wait for
 * the child. */
int rti_spawn(const struct rti_spawn *opts, int32_t *pid);

/* Kill a program that was started, and wait for its end. It may take a while to end, e.g. in the
 * middle of a read from a disk that hangs: it is then reaped later. Takes the pidfd, which may be
 * -1. */
void rti_spawn_undo(int32_t pid, int pidfd);

/* Run a program to its end and collect what it writes to stdout. The child is reaped, or given to
 * rti_reap_later_take() if it does not even end when it is killed. opts->stdout_fd is ignored.
 *
 * Returns 0; -ETIMEDOUT if the program was killed after timeout_ns; -EIO if it failed; -EFBIG if
 * it wrote too much; or what rti_spawn() returns. */
int rti_spawn_output(const struct rti_spawn *opts, uint64_t timeout_ns, struct rti_buf *out);

#endif
