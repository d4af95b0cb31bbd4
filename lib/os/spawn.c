/* SPDX-License-Identifier: MIT */
/* Starting programs: the only place that does. */
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/platform.h"
#include "os/procfs.h"

/* glibc has it since 2.29, musl since 1.1.24. */
#ifdef __GLIBC__
#define HAS_ADDCHDIR __GLIBC_PREREQ(2, 29)
#else
#define HAS_ADDCHDIR 1
#endif

#define LARGEST_OUTPUT ((size_t)1 << 20)

static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, defaults;
	int err;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGCHLD);
	sigaddset(&defaults, SIGPIPE);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (err == 0)
		err = posix_spawnattr_setsigdefault(attr, &defaults);
	if (err == 0)
		err =
		    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return err;
}

static int add_chdir(posix_spawn_file_actions_t *actions, const char *cwd)
{
#if HAS_ADDCHDIR
	return posix_spawn_file_actions_addchdir_np(actions, cwd);
#else
	(void)actions;
	(void)cwd;
	return ENOSYS;
#endif
}

/* stdout comes first: its descriptor may be 0 or 2 where the host has closed those. */
static int set_actions(posix_spawn_file_actions_t *actions, const struct rti_spawn *how)
{
	int err = 0;

	if (how->stdout_fd >= 0)
		err = posix_spawn_file_actions_adddup2(actions, how->stdout_fd, STDOUT_FILENO);
	if (err == 0 && how->is_quiet)
		err = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY,
		                                       0);
	if (err == 0 && how->is_quiet)
		err = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null",
		                                       O_WRONLY, 0);
	for (int i = 0; err == 0 && i < 2; i++) {
		if (how->keep_fd[i] > 0) /* onto itself: that clears its close-on-exec flag */
			err = posix_spawn_file_actions_adddup2(actions, how->keep_fd[i],
			                                       how->keep_fd[i]);
	}
	if (err == 0 && how->cwd)
		err = add_chdir(actions, how->cwd);
	return err;
}

static int spawn(const struct rti_spawn *how, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, int32_t *pid)
{
	/* The interface lacks the const that it keeps to. */
	char *const *argv = (char *const *)how->argv;
	char *const *envp = how->envp ? (char *const *)how->envp : environ;

	return how->use_path ? posix_spawnp(pid, argv[0], actions, attr, argv, envp)
	                     : posix_spawn(pid, argv[0], actions, attr, argv, envp);
}

int rti_spawn(const struct rti_spawn *how, int32_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err == 0) {
		err = set_attributes(&attr);
		if (err == 0)
			err = set_actions(&actions, how);
		if (err == 0)
			err = spawn(how, &actions, &attr, pid);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static uint64_t now_ns(void)
{
	struct rti_platform platform;
	struct rti_now now;

	rti_platform_init(&platform, 0);
	platform.now(&now);
	return now.monotonic_ns;
}

/* Wait for output, its end included. 0 or -errno. */
static int wait_readable(int fd, uint64_t until_ns)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	uint64_t now = now_ns();
	int n = now < until_ns ? poll(&wanted, 1, (int)((until_ns - now) / 1000000u) + 1) : 0;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return now < until_ns ? 0 : -ETIMEDOUT;
}

/* The descriptor does not block, so a wait that ended early does no harm. */
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

/* A child that the host's own reaping took away must not be killed: its number may be another's
 * by now. */
static void kill_child(int32_t pid)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
		kill(pid, SIGKILL);
}

/* -ECHILD: the host ignores SIGCHLD or reaps everything, so the status is lost; what was printed
 * is not. */
static int reap(int32_t pid)
{
	int status;
	pid_t reaped;

	do {
		reaped = waitpid(pid, &status, 0);
	} while (reaped < 0 && errno == EINTR);
	if (reaped < 0)
		return errno == ECHILD ? 0 : -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int rti_spawn_output(const struct rti_spawn *how, uint64_t timeout_ns, struct rti_buf *out)
{
	struct rti_spawn into_pipe = *how;
	int32_t pid;
	int fd[2], err, status;

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
	err = read_output(fd[0], now_ns() + timeout_ns, out);
	close(fd[0]);
	if (err < 0)
		kill_child(pid);
	status = reap(pid);
	return err < 0 ? err : status;
}
