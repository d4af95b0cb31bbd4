/* SPDX-License-Identifier: MIT */
/* Makes each kind of call that the tracer looks at, and executes itself in a thread that is not the
 * leader. Its exit code is 7. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_CODE 7

static char **arguments;

/* A child that stops ends with its parent, which alone would continue it. */
static pid_t start_child(int signal)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (signal && getppid() == parent)
			raise(signal);
		_exit(3);
	}
	return pid;
}

static void wait_for_children(void)
{
	struct rusage usage;
	siginfo_t info;
	pid_t stopped;

	wait4(start_child(0), NULL, 0, &usage);
	syscall(SYS_waitid, P_PID, start_child(0), &info, WEXITED, &usage);
	stopped = start_child(SIGSTOP);
	waitpid(stopped, NULL, WUNTRACED);
	syscall(SYS_waitid, P_PID, stopped, &info, WEXITED | WNOHANG, &usage);
	kill(stopped, SIGCONT);
	waitpid(stopped, NULL, 0);
}

static void *execute_again(void *arg)
{
	char *const argv[] = { arguments[0], (char[]){ "again" }, NULL };

	execv("/proc/self/exe", argv);
	return arg;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	pthread_t thread;

	arguments = argv;
	getrusage(RUSAGE_SELF, &usage);
	if (argc > 1)
		return EXIT_CODE;
	wait_for_children();
	if (setuid(getuid()) < 0 || getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 1;
	if (pthread_create(&thread, NULL, execute_again, NULL) != 0)
		return 2;
	pthread_join(thread, NULL);
	return 4;
}
