/* SPDX-License-Identifier: MIT */
/* recycled_pid COUNT MS: children with pid reuse, each with the pid of the previous one. */
#include "work.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TRIES 100

static int fd;

/* Start a child with this pid. Try again if another process takes the pid first. */
static pid_t start_with_pid(pid_t wanted, int ms)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", wanted - 1);

	for (int i = 0; i < TRIES; i++) {
		pid_t pid;

		if (pwrite(fd, text, (size_t)len, 0) != len)
			skip_with_errno("/proc/sys/kernel/ns_last_pid");
		pid = fork();
		if (pid < 0)
			skip_with_errno("fork");
		if (pid == 0) {
			if (getpid() == wanted)
				burn(ms);
			_exit(0);
		}
		if (pid == wanted)
			return pid;
		wait_for(pid);
	}
	skip("another process has the pid");
}

int main(int argc, char **argv)
{
	int count = get_number(argc, argv, 1, 4), ms = get_number(argc, argv, 2, 150);
	pid_t pid;

	fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		skip_with_errno("cannot choose a pid: /proc/sys/kernel/ns_last_pid");
	pid = start_child(burn, ms);
	wait_for(pid);
	while (count-- > 1)
		wait_for(start_with_pid(pid, ms));
	return 0;
}
