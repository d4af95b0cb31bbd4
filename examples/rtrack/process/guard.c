/* SPDX-License-Identifier: MIT */
/* A child of rtrack that kills another process as soon as rtrack is gone. */
#include "guard.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pidfd.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* on every architecture */
#endif

enum { FDS_MAX = 1024 };

/* Read a number from the status of a process. Returns 0 if it has none. */
static int32_t read_status(int32_t pid, const char *format)
{
	char path[64], line[256];
	int number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, format, &number) == 1)
			break;
	if (file)
		fclose(file);
	return number;
}

/* All signals are blocked: those to the process group are not for the guard. The kernel sends TERM
 * when the parent ends. Nothing is kept open that others wait for the end of. */
static void guard(int32_t pid, int pidfd, pid_t parent)
{
	sigset_t all, term;
	int signal = 0, max = FDS_MAX;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* Linux 5.9 */
	if (syscall(SYS_close_range, FDS_MAX, UINT_MAX, 0) < 0)
		max = (int)sysconf(_SC_OPEN_MAX);
	for (int fd = 0; fd < max; fd++)
		if (fd != pidfd)
			close(fd);
	while (getppid() == parent)
		sigwait(&term, &signal);
	pidfd_signal(pidfd, pid, SIGKILL);
	_exit(0);
}

int32_t guard_tracer_of(int32_t pid)
{
	pid_t parent = getpid(), child;
	int32_t tracer = read_status(pid, "TracerPid: %d");
	int pidfd;

	/* A debugger of rtrack and of all that it starts is not its own. */
	if (tracer <= 0 || read_status(tracer, "PPid: %d") != parent)
		return 0;
	pidfd = pidfd_open_of(tracer);
	child = fork();
	if (child == 0)
		guard(tracer, pidfd, parent);
	if (pidfd >= 0)
		close(pidfd);
	return child > 0 ? child : 0;
}

void guard_end(int32_t guard)
{
	if (guard <= 0)
		return;
	kill(guard, SIGKILL);
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
}
