/* SPDX-License-Identifier: MIT */
/* A child of rtrack that kills another process as soon as rtrack is gone. */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pidfd.h"

enum { FDS_MAX = 1024 };

/* Returns 0 if the process has none. */
static int32_t read_tracer(int32_t pid)
{
	char path[64], line[256];
	int tracer = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (file)
		fclose(file);
	return tracer;
}

/* All signals are blocked: those to the process group are not for the guard. The kernel sends TERM
 * when the parent ends. Nothing is kept open that others wait for the end of. */
static void guard(int32_t pid, int pidfd, pid_t parent)
{
	sigset_t all, term;
	int signal = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int fd = 0; fd < FDS_MAX; fd++)
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
	int32_t tracer = read_tracer(pid);
	int pidfd;

	if (tracer <= 0)
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
