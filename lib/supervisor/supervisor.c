/* SPDX-License-Identifier: MIT */
/* The supervisor: starts one program, adopts and reaps what that leaves behind, and reports.
 *
 * A process of its own, because a subreaper adopts every orphan below it and waits for any child: in the host program
 * both would meddle with the host's own children. It reads no clock but one, formats nothing and keeps no heap, so
 * that what it costs and what it bequeaths to the program (an exec hands the peak memory on) is next to nothing. */
#include "protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct supervisor {
	int socket; /* -1 once the library has let go */
	int signals;
	pid_t program; /* 0 once it was reaped */
	int may_reap;
	struct rti_report report;
};

static void send_report(struct supervisor *s, enum rti_report_kind kind)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s->report.kind = kind;
	s->report.monotonic_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	getrusage(RUSAGE_CHILDREN, &s->report.reaped);
	if (s->socket >= 0 && send(s->socket, &s->report, sizeof(s->report), MSG_NOSIGNAL) < 0)
		s->report.error = errno; /* the library is gone; the program goes on */
}

/* The value behind "key: " at the start of a line, in a short text of the kernel's. */
static uint64_t value_of(const char *text, const char *key, int base)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
		if (at == text || at[-1] == '\n')
			return strtoull(at + strlen(key), NULL, base);
	}
	return 0;
}

static ssize_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n;
}

static void note_own_peak(struct supervisor *s)
{
	char text[4096];

	read_file("/proc/self/status", text, sizeof(text));
	s->report.bequeathed_kib = (int64_t)value_of(text, "VmHWM:", 10);
}

/* What we have read and written ourselves will be folded together with what we reap: the library takes it off. */
static void note_own_io(struct supervisor *s)
{
	static const char *const keys[] = { "rchar: ", "wchar: ", "read_bytes: ", "write_bytes: ",
		                            "cancelled_write_bytes: " };
	char text[512];
	ssize_t n = read_file("/proc/self/io", text, sizeof(text));

	for (int i = 0; i < 5; i++)
		s->report.own_io[i] = value_of(text, keys[i], 10);
	if (n > 0)
		s->report.own_io[0] += (uint64_t)n;
}

static int start_here(char **argv, const sigset_t *mask, pid_t *pid)
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

/* execvp() would hand what is no program to a shell; posix_spawnp(), which is used elsewhere, does not, so neither do we.
 * Returns errno. */
static int execute(char **argv)
{
	const char *dir = getenv("PATH"), *end;
	size_t name_len = strlen(argv[0]) + 1, dir_len;
	int refused = 0;
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
		memcpy(path + dir_len + (dir_len > 0), argv[0], name_len); /* an empty entry is the working directory */
		execve(path, argv, environ);
		if (errno == EACCES)
			refused = 1;
		else if (errno != ENOENT && errno != ENOTDIR)
			return errno;
	}
	return refused ? EACCES : ENOENT;
}

/* The program is in the cgroup from its first instruction on. We are not: what we use is not the program's. The parent
 * sleeps until the child has executed the program (CLONE_VFORK) but shares no memory with it, except for the error. */
static int start_in_cgroup(char **argv, const sigset_t *mask, int cgroup, pid_t *pid)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP | CLONE_VFORK, .exit_signal = SIGCHLD, .cgroup = (unsigned)cgroup
	};
	int *error = mmap(NULL, sizeof(*error), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

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

/* Descriptors of the host that we kept open would keep pipes from ending, and its directory from being unmounted. */
static void let_go_of_the_host(struct supervisor *s)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= 2; fd++) {
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	}
	dup3(s->socket, 3, O_CLOEXEC);
	dup3(s->signals, 4, O_CLOEXEC);
	s->socket = 3;
	s->signals = 4;
	if (syscall(SYS_close_range, 5, ~0u, 0) < 0) {
		for (int fd = 5; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 65536; fd++)
			close(fd);
	}
	if (chdir("/") < 0)
		s->report.error = errno; /* nothing depends on it */
}

static void note_ignored_sigchld(struct supervisor *s, pid_t pid)
{
	char path[32] = "/proc/", text[4096];
	char digits[12];
	int n = 0, at = 6;

	do {
		digits[n++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	while (n)
		path[at++] = digits[--n];
	memcpy(path + at, "/status", 8);
	read_file(path, text, sizeof(text));
	if (value_of(text, "SigIgn:\t", 16) >> (SIGCHLD - 1) & 1)
		s->report.ignored_sigchld = 1;
}

static void reap(struct supervisor *s, pid_t pid)
{
	int status;

	/* A process that we adopted, or the program: their last words are in /proc as long as they are zombies. */
	note_ignored_sigchld(s, pid);
	if (waitpid(pid, &status, 0) != pid || pid != s->program)
		return;
	s->program = 0;
	s->report.status = status;
	send_report(s, RTI_EXITED);
}

static void reap_all(struct supervisor *s)
{
	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
			return;
		reap(s, info.si_pid);
	}
}

static void answer(struct supervisor *s)
{
	uint32_t request;
	ssize_t n = recv(s->socket, &request, sizeof(request), 0);

	if (n == sizeof(request) && request == RTI_PROCEED)
		s->may_reap = 1;
	else if (n == sizeof(request) && request == RTI_ACCOUNT)
		send_report(s, RTI_ACCOUNTED);
	else if (n >= 0 || (errno != EINTR && errno != EAGAIN)) {
		close(s->socket);
		s->socket = -1;
		s->may_reap = 1;
	}
}

/* Ends when the program has ended and the library has let go. Whoever runs on then is init's to reap, as without us. */
static void supervise(struct supervisor *s)
{
	while (s->program || s->socket >= 0) {
		struct pollfd events[] = { { .fd = s->signals, .events = POLLIN }, { .fd = s->socket, .events = POLLIN } };
		struct signalfd_siginfo info;

		if (s->may_reap)
			reap_all(s);
		if (!s->program && s->socket < 0)
			break;
		if (poll(events, 2, -1) < 0)
			continue;
		if (events[0].revents && read(s->signals, &info, sizeof(info)) < 0)
			continue;
		if (events[1].revents)
			answer(s);
	}
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP ? rmdir(path) : 0;
}

/* With what the program may have made below it. 1 when it is gone. */
static int remove_cgroup(const char *path)
{
	if (rmdir(path) < 0)
		nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	return access(path, F_OK) < 0;
}

/* A cgroup in which somebody runs on can be removed only when he has gone. A process of its own waits for that, so that the
 * host has no child that outlives the command. */
static void leave_cgroup(const char *path)
{
	const struct timespec nap = { .tv_sec = 1 };

	if (remove_cgroup(path) || fork() != 0)
		return;
	while (!remove_cgroup(path))
		nanosleep(&nap, NULL);
}

/* A low descriptor of the host may be closed, and ours would then be the program's. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, 5);

	if (moved >= 0)
		close(fd);
	return moved;
}

int main(int argc, char **argv)
{
	struct supervisor s = { 0 };
	const char *cgroup, *cwd;
	sigset_t all, chld, mask;
	int err;

	/* By hand, or by a library of another release: not for us. */
	if (argc < 6 || strcmp(argv[1], RTI_PROTOCOL) != 0)
		return 2;
	cgroup = argv[3];
	cwd = argv[4];
	s.socket = move_up(atoi(argv[2]));
	/* Signals to the whole process group are for the program; the library forwards the rest. Ours stay blocked. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	s.signals = move_up(signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC));
	if (s.socket < 0 || s.signals < 0)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	note_own_peak(&s);
	note_own_io(&s);
	if (*cwd && chdir(cwd) < 0)
		err = -errno;
	else if (*cgroup)
		err = start_in_cgroup(argv + 5, &mask, open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &s.program);
	else
		err = start_here(argv + 5, &mask, &s.program);
	s.report.pid = s.program;
	s.report.error = -err;
	send_report(&s, err == 0 ? RTI_STARTED : s.program < 0 ? RTI_NOT_PLACED : RTI_FAILED);
	if (err == 0) {
		let_go_of_the_host(&s);
		supervise(&s);
	}
	if (*cgroup)
		leave_cgroup(cgroup);
	return 0;
}
