/* SPDX-License-Identifier: MIT */
/* Runs a command that may do anything wrong: guard SECONDS COMMAND [ARGUMENT...]
 *
 * A mutant may signal every process there is: kill(2) of pid -1, and of init, is refused. It may
 * hang: it is ended after SECONDS. It may leave processes behind: all that descend from it are
 * killed when it ends. Exits with what the command exits with, 124 if it was ended, or 125 if it
 * could not be started. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMED_OUT 124
#define CANNOT_RUN 125

static int refuse_wide_kills(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)-1, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 0;
	/* A user without rights has to give up set-user-ID programs for it. */
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0;
}

static void run(char **argv)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (refuse_wide_kills() == 0)
		execvp(argv[0], argv);
	perror(argv[0]);
	_exit(CANNOT_RUN);
}

/* Kill the children, and those that they leave to us, until there are none. */
static void kill_descendants(void)
{
	char path[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	for (;;) {
		FILE *children = fopen(path, "re");

		while (children && fscanf(children, "%d", &pid) == 1)
			if (pid > 1)
				kill(pid, SIGKILL);
		if (children)
			fclose(children);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Returns the exit code of `child`, or TIMED_OUT if it runs longer or we are to end. */
static int wait_for(pid_t child, const sigset_t *signals, time_t seconds)
{
	struct timespec now;
	int pid, signal, status;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (time_t end = now.tv_sec + seconds; now.tv_sec < end;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == child)
				return exit_code(status);
		signal = sigtimedwait(signals, NULL, &(struct timespec){ .tv_sec = 1 });
		if (signal == SIGTERM || signal == SIGINT)
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return TIMED_OUT;
}

int main(int argc, char **argv)
{
	sigset_t signals;
	pid_t child;
	int code;

	if (argc < 3) {
		fputs("usage: guard SECONDS COMMAND [ARGUMENT...]\n", stderr);
		return CANNOT_RUN;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child == 0)
		run(argv + 2);
	if (child < 0)
		return CANNOT_RUN;
	code = wait_for(child, &signals, atoi(argv[1]));
	kill_descendants();
	return code;
}
