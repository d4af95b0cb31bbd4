/* SPDX-License-Identifier: MIT */
/* Starts programs: the only code of the library that does. */
#include "os/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/origin.h"
#include "os/platform.h"
#include "os/process/fd_map.h"
#include "os/process/path_exec.h"
#include "os/process/pidfd.h"
#include "os/process/reap_later.h"
#include "os/procfs.h"

/* posix_spawn_file_actions_addchdir_np() is in glibc since 2.29 and in musl since 1.1.24. */
#ifdef __GLIBC__
#define HAS_ADDCHDIR __GLIBC_PREREQ(2, 29)
#else
#define HAS_ADDCHDIR 1
#endif

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define LARGEST_OUTPUT ((size_t)1 << 20)
#define NAP_NS 1000000
#define KILLED_MAX_NS UINT64_C(2000000000) /* until a killed program has ended */

static int set_attributes(posix_spawnattr_t *attr, const struct rti_spawn *opts)
{
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	sigset_t none, defaults;
	int err;

	if (opts->has_new_session) /* which has a process group of its own */
		flags |= POSIX_SPAWN_SETSID;
	else if (opts->has_new_group)
		flags |= POSIX_SPAWN_SETPGROUP;
	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGCHLD);
	sigaddset(&defaults, SIGPIPE);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (err == 0)
		err = posix_spawnattr_setsigdefault(attr, &defaults);
	if (err == 0)
		err = posix_spawnattr_setpgroup(attr, 0);
	if (err == 0)
		err = posix_spawnattr_setflags(attr, flags);
	return err;
}

static int add_chdir(posix_spawn_file_actions_t *actions, const char *cwd)
{
#if HAS_ADDCHDIR
	return posix_spawn_file_actions_addchdir_np(actions, cwd);
#else
	(void)actions;
	(void)cwd;
	return ENOSYS; /* see can_spawn() */
#endif
}

/* Set stdout first: if the host has closed 0 or 2, opts->stdout_fd may be one of them. The program
 * is executed after all actions, and dir is close-on-exec. */
static int set_actions(posix_spawn_file_actions_t *actions, const struct rti_spawn *opts,
                       const struct rti_fd_map *map, int dir)
{
	const int keep_fds[] = { opts->keep_fd[0], opts->keep_fd[1], dir };
	int err = 0;

	if (opts->stdout_fd >= 0)
		err = posix_spawn_file_actions_adddup2(actions, opts->stdout_fd, STDOUT_FILENO);
	if (err == 0 && opts->is_quiet)
		err = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY,
		                                       0);
	if (err == 0 && opts->is_quiet)
		err = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null",
		                                       O_WRONLY, 0);
	if (err == 0)
		err = rti_fd_map_add(map, actions);
	for (int i = 0; err == 0 && i < 2; i++) {
		if (opts->keep_fd[i] > 0) /* dup2 onto itself clears close-on-exec */
			err = posix_spawn_file_actions_adddup2(actions, opts->keep_fd[i],
			                                       opts->keep_fd[i]);
	}
	if (err == 0 && opts->has_only_fds)
		err = rti_fd_map_add_closes(map, keep_fds, 3, actions);
	if (err == 0 && opts->cwd)
		err = add_chdir(actions, opts->cwd);
	return err;
}

static int spawn(const struct rti_spawn *opts, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, int dir, int32_t *pid)
{
	char path[RTI_DESCRIPTOR_PATH_MAX];
	/* posix_spawn(3) does not modify these, but its prototype lacks the const. */
	char *const *argv = (char *const *)opts->argv;
	char *const *envp = opts->envp ? (char *const *)opts->envp : environ;

	if (opts->file) {
		rti_origin_descriptor_path(dir, opts->file->name, path);
		return posix_spawn(pid, path, actions, attr, argv, envp);
	}
	return opts->use_path ? posix_spawnp(pid, argv[0], actions, attr, argv, envp)
	                      : posix_spawn(pid, argv[0], actions, attr, argv, envp);
}

static int spawn_with_map(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir,
                          int32_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err == 0) {
		err = set_attributes(&attr, opts);
		if (err == 0)
			err = set_actions(&actions, opts, map, dir);
		if (err == 0)
			err = spawn(opts, &actions, &attr, dir, pid);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

/* --- Where posix_spawn(3) cannot. --- */

static int open_as(const char *path, int flags, int target)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? errno : rti_fd_map_put(fd, target);
}

/* Standard output first, as in set_actions(). */
static int set_descriptors(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir)
{
	const int keep_fds[] = { opts->keep_fd[0], opts->keep_fd[1], dir };
	int err = 0;

	if (opts->stdout_fd >= 0)
		err = rti_fd_map_put(opts->stdout_fd, STDOUT_FILENO);
	if (err == 0 && opts->is_quiet)
		err = open_as("/dev/null", O_RDONLY, STDIN_FILENO);
	if (err == 0 && opts->is_quiet)
		err = open_as("/dev/null", O_WRONLY, STDERR_FILENO);
	if (err == 0)
		err = rti_fd_map_apply(map);
	for (int i = 0; err == 0 && i < 2; i++)
		if (opts->keep_fd[i] > 0)
			err = rti_fd_map_put(opts->keep_fd[i], opts->keep_fd[i]);
	if (err == 0 && opts->has_only_fds)
		rti_fd_map_apply_closes(map, keep_fds, 3);
	return err;
}

static void reset_signals(void)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction action;
	sigset_t none;

	for (int signal = 1; signal < NSIG; signal++)
		if (signal == SIGCHLD || signal == SIGPIPE ||
		    (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN))
			sigaction(signal, &by_default, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child. execve(2) does not modify these, but its prototype lacks the const. Returns the
 * errno of what has failed. */
static int execute(const struct rti_spawn *opts, int dir)
{
	char **argv = (char **)(uintptr_t)opts->argv, **envp = (char **)(uintptr_t)opts->envp;
	char path[RTI_DESCRIPTOR_PATH_MAX];

	if (opts->use_path && !opts->file)
		return rti_path_exec(argv, envp, NULL);
	if (opts->file)
		rti_origin_descriptor_path(dir, opts->file->name, path);
	execve(opts->file ? path : argv[0], argv, envp ? envp : environ);
	return errno;
}

/* In the child. Returns the errno of what has failed. */
static int set_up_and_execute(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir)
{
	int err = set_descriptors(opts, map, dir);

	if (err)
		return err;
	if (opts->cwd && chdir(opts->cwd) < 0)
		return errno;
	if (opts->has_new_session)
		setsid();
	else if (opts->has_new_group)
		setpgid(0, 0);
	reset_signals();
	return execute(opts, dir);
}

/* The parent sleeps until the child has executed the program (CLONE_VFORK). They share no memory
 * but *error, so no handler of the caller is at risk. */
static int clone_with_map(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir,
                          int *error, int32_t *pid)
{
	sigset_t all, before;
	long child;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	child = syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
	err = child < 0 ? errno : 0;
	if (child == 0) {
		*error = set_up_and_execute(opts, map, dir);
		_exit(127);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	if (*error) {
		while (waitpid((pid_t)child, NULL, 0) < 0 && errno == EINTR)
			;
		return -*error;
	}
	*pid = (int32_t)child;
	return 0;
}

static int spawn_by_clone(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir,
                          int32_t *pid)
{
	int *error =
	    mmap(NULL, sizeof(*error), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (error == MAP_FAILED)
		return -errno;
	err = clone_with_map(opts, map, dir, error, pid);
	munmap(error, sizeof(*error));
	return err;
}

/* Whether this C library's posix_spawn(3) has what is asked for. */
static bool can_spawn(const struct rti_spawn *opts)
{
	return (HAS_ADDCHDIR || !opts->cwd) && (RTI_HAS_CLOSEFROM || !opts->has_only_fds);
}

/* A filter of system calls may refuse clone3(2). glibc's posix_spawn(3) falls back only if the
 * kernel lacks the call. E.g.: container runtimes of 2021 refuse it with EPERM. The kernel itself
 * refuses a size of 0, and makes nothing. */
static int spawn_or_clone(const struct rti_spawn *opts, const struct rti_fd_map *map, int dir,
                          int32_t *pid)
{
	int err;

	if (!can_spawn(opts))
		return spawn_by_clone(opts, map, dir, pid);
	err = spawn_with_map(opts, map, dir, pid);
	if (err < 0 && syscall(SYS_clone3, NULL, 0) < 0 && errno != EINVAL && errno != ENOSYS)
		return spawn_by_clone(opts, map, dir, pid);
	return err;
}

/* The directory of the file is still open when the program is executed: the child overwrites no
 * descriptor with its number. */
static int spawn_beside(const struct rti_spawn *opts, const struct rti_fd_map *map, int32_t *pid)
{
	int dir = opts->file ? opts->file->dir : 0, copy, err;

	if (!opts->file || (dir > STDERR_FILENO && opts->fd_count == 0))
		return spawn_or_clone(opts, map, dir, pid);
	copy = rti_fd_map_copy(opts->fds, opts->fd_count, dir);
	if (copy < 0)
		return copy;
	err = spawn_or_clone(opts, map, copy, pid);
	close(copy);
	return err;
}

int rti_spawn(const struct rti_spawn *opts, int32_t *pid)
{
	struct rti_fd_map map;
	int err = rti_fd_map_open(&map, opts->fds, opts->fd_count);

	if (err < 0)
		return err;
	err = spawn_beside(opts, &map, pid);
	rti_fd_map_close(&map);
	return err;
}

/* Wait for output or for its end. Returns 0, -ETIMEDOUT or another -errno. */
static int wait_readable(int fd, uint64_t until_ns)
{
	struct pollfd output = { .fd = fd, .events = POLLIN };
	uint64_t now = rti_monotonic_ns();
	int n = now < until_ns ? poll(&output, 1, (int)((until_ns - now) / 1000000u) + 1) : 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return now < until_ns ? 0 : -ETIMEDOUT;
}

/* Read until the end of the output. fd does not block, so a wait that ends early does no harm.
 * Returns 0 or -errno. */
static int read_output(int fd, uint64_t until_ns, struct rti_buf *out)
{
	for (;;) {
		int err = wait_readable(fd, until_ns);
		ssize_t n;

		if (err == 0)
			err = rti_buf_reserve(out, out->len + 1);
		if (err < 0)
			return err;
		if (out->len >= LARGEST_OUTPUT)
			return -EFBIG;
		n = read(fd, out->data + out->len, out->cap - 1 - out->len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n == 0)
			return 0;
		out->len += n > 0 ? (size_t)n : 0;
		out->data[out->len] = '\0';
		if (out->len + 1 == out->cap && rti_buf_reserve(out, out->cap) < 0)
			return -ENOMEM;
	}
}

/* Wait for a child. Returns 0, -EIO if it failed, -ETIMEDOUT, or another -errno. If the host
 * ignores SIGCHLD or reaps every child, the status is lost (ECHILD). The output is not, so that
 * counts as success. */
static int reap(int32_t pid, int pidfd, uint64_t until_ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	uint64_t now;
	pid_t reaped;
	int status;

	while ((reaped = waitpid(pid, &status, WNOHANG)) == 0 &&
	       (now = rti_monotonic_ns()) < until_ns) {
		if (pidfd < 0) /* before Linux 5.3 */
			nanosleep(&nap, NULL);
		else
			rti_pidfd_wait(pidfd, -1, (int64_t)(until_ns - now));
	}
	if (reaped == 0)
		return -ETIMEDOUT;
	if (reaped < 0)
		return errno == ECHILD ? 0 : -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

void rti_spawn_undo(int32_t pid, int pidfd)
{
	siginfo_t info;

	/* Unless the host has reaped it already: its pid may have been reused since. */
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		kill(pid, SIGKILL);
	if (reap(pid, pidfd, rti_monotonic_ns() + KILLED_MAX_NS) == -ETIMEDOUT && pidfd >= 0)
		rti_reap_later_take(pidfd);
	else
		rti_pidfd_close(pidfd);
}

int rti_spawn_output(const struct rti_spawn *opts, uint64_t timeout_ns, struct rti_buf *out)
{
	struct rti_spawn into_pipe = *opts;
	int32_t pid;
	uint64_t until_ns = rti_monotonic_ns() + timeout_ns;
	int fd[2], pidfd, err, end_err;

	out->len = 0;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	into_pipe.stdout_fd = fd[1];
	err = fcntl(fd[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : rti_spawn(&into_pipe, &pid);
	close(fd[1]);
	if (err < 0) {
		close(fd[0]);
		return err;
	}
	err = read_output(fd[0], until_ns, out);
	close(fd[0]);
	/* The program may run on after its output has ended. */
	pidfd = rti_pidfd_open(pid);
	end_err = err == 0 ? reap(pid, pidfd, until_ns) : -ETIMEDOUT;
	if (end_err == -ETIMEDOUT)
		rti_spawn_undo(pid, pidfd);
	else
		rti_pidfd_close(pidfd);
	return err < 0 ? err : end_err;
}
