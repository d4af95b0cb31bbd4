/* SPDX-License-Identifier: MIT */
/* pid_namespace COUNT MS: pid namespaces in which the first process is killed. The kernel then
 * kills and reaps all other processes in it. */
#include "work.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static pid_t fork_into(unsigned long namespaces)
{
	return (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

static pid_t start_namespace(void)
{
	pid_t pid = fork_into(CLONE_NEWPID);

	if (pid < 0 && errno == EPERM)
		pid = fork_into(CLONE_NEWUSER | CLONE_NEWPID);
	if (pid < 0)
		skip_with_errno("this user cannot make a pid namespace");
	return pid;
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 1), ms = get_number(argc, argv, 2, 400);

	while (count--) {
		pid_t first = start_namespace();

		if (first == 0) {
			for (int i = 0; i < 2; i++)
				start_child(burn, 10 * ms);
			sleep_ms(10 * ms);
			_exit(0);
		}
		sleep_ms(ms);
		kill(first, SIGKILL);
		wait_for(first);
	}
	return 0;
}
