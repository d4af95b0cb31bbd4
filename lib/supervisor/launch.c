/* SPDX-License-Identifier: MIT */
/* Starts the program. */
#include "supervisor/launch.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

int rts_launch_here(char **argv, const sigset_t *mask, pid_t *pid)
{
	posix_spawnattr_t attr;
	int err = posix_spawnattr_init(&attr);

	if (err)
		return -err;
	err = posix_spawnattr_setsigmask(&attr, mask);
	if (err == 0)
		err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (err == 0)
		err = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return -err;
}

/* Search argv[0] in PATH and execute it. execvp() would run a file without an executable format in
 * a shell. posix_spawnp(), which rts_launch_here() uses, would not, so this does not either.
 * Returns a positive errno; does not return on success. */
static int execute(char **argv)
{
	const char *dir = getenv("PATH"), *end;
	size_t name_len = strlen(argv[0]) + 1, dir_len;
	bool is_refused = false;
	char path[4096];

	if (!argv[0][0])
		return ENOENT;
	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, environ);
		return errno;
	}
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		dir_len = (size_t)(end - dir);
		if (dir_len + 1 + name_len > sizeof(path))
			continue;
		memcpy(path, dir, dir_len);
		path[dir_len] = '/';
		/* An empty entry of PATH is the working directory. */
		memcpy(path + dir_len + (dir_len > 0), argv[0], name_len);
		execve(path, argv, environ);
		if (errno == EACCES)
			is_refused = true;
		else if (errno != ENOENT && errno != ENOTDIR)
			return errno;
	}
	return is_refused ? EACCES : ENOENT;
}

/* The program is in the cgroup from its first instruction on. The supervisor is not in it, so what
 * the supervisor uses does not count for the program. The parent sleeps until the child has
 * executed the program (CLONE_VFORK). It shares no memory with the child except the error. */
int rts_launch_in_cgroup(char **argv, const sigset_t *mask, int cgroup, pid_t *pid)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP | CLONE_VFORK,
		                   .exit_signal = SIGCHLD,
		                   .cgroup = (unsigned)cgroup };
	int *error =
	    mmap(NULL, sizeof(*error), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (error == MAP_FAILED)
		return -errno;
	*pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (*pid == 0) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		*error = execute(argv);
		_exit(127);
	}
	if (*pid < 0)
		return -errno;
	if (*error)
		waitpid(*pid, NULL, 0);
	return -*error;
}
