/* SPDX-License-Identifier: MIT */
/* recycled_pid COUNT MS: children that get the pid of the child before them. */
#include "work.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TRIES 100

static int fd;

/* Other processes start too: the pid that comes next may be taken. */
static pid_t start_as(pid_t wanted, int ms)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", wanted - 1);

	for (int i = 0; i < TRIES; i++) {
		pid_t pid;

		if (pwrite(fd, text, (size_t)len, 0) != len)
			cannot("/proc/sys/kernel/ns_last_pid");
		pid = fork();
		if (pid < 0)
			cannot("fork");
		if (pid == 0) {
			if (getpid() == wanted)
				burn(ms);
			_exit(0);
		}
		if (pid == wanted)
			return pid;
		wait_for(pid);
	}
	give_up("another process has taken the pid");
}

int main(int argc, char **argv)
{
	int count = number(argc, argv, 1, 4), ms = number(argc, argv, 2, 150);
	pid_t pid;

	fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		cannot("no pid can be chosen: /proc/sys/kernel/ns_last_pid");
	pid = start_child(burn, ms);
	wait_for(pid);
	while (count-- > 1)
		wait_for(start_as(pid, ms));
	return 0;
}
