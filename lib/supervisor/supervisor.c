/* SPDX-License-Identifier: MIT */
/* The supervisor: starts one program, adopts and reaps what that leaves behind, and reports.
 *
 * A process of its own, because a subreaper adopts every orphan below it and waits for any child: in the host program
 * both would meddle with the host's own children. It reads no clock but one, formats nothing and keeps no heap, so
 * that what it costs and what it bequeaths to the program (an exec hands the peak memory on) is next to nothing. */
#include "protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	getrusage(RUSAGE_SELF, &s->report.own);
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

/* 0 or -errno, that of a failing execve included. */
static int start_program(char **argv, const sigset_t *mask, pid_t *pid)
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

/* Returns 0 when no child is left. */
static int reap_all(struct supervisor *s)
{
	for (;;) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return errno == EINTR;
		if (info.si_pid == 0)
			return 1;
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

/* Ends when no child is left and the library has let go. */
static void supervise(struct supervisor *s)
{
	int has_children = 1;

	while (has_children || s->socket >= 0) {
		struct pollfd events[] = { { .fd = s->signals, .events = POLLIN }, { .fd = s->socket, .events = POLLIN } };
		struct signalfd_siginfo info;

		if (s->may_reap && has_children)
			has_children = reap_all(s);
		if (!has_children && s->socket < 0)
			break;
		if (poll(events, 2, -1) < 0)
			continue;
		if (events[0].revents && read(s->signals, &info, sizeof(info)) < 0)
			continue;
		if (events[1].revents)
			answer(s);
	}
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
	sigset_t all, chld, mask;
	int err;

	if (argc < 3)
		return 2;
	s.socket = move_up(atoi(argv[1]));
	/* Signals to the whole process group are for the program; the library forwards the rest. Ours stay blocked. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	s.signals = move_up(signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC));
	if (s.socket < 0 || s.signals < 0)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	note_own_io(&s);
	err = start_program(argv + 2, &mask, &s.program);
	s.report.pid = s.program;
	s.report.error = -err;
	send_report(&s, err < 0 ? RTI_FAILED : RTI_STARTED);
	if (err < 0)
		return 0;
	let_go_of_the_host(&s);
	supervise(&s);
	return 0;
}
