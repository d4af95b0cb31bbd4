/* SPDX-License-Identifier: MIT */
/* mover MS HOW: a child moves itself to the cgroup that the environment variable
 * ACCURACY_ELSEWHERE names, works there, and exits. HOW is what its parent does about that:
 *   waited    it waits for the child
 *   ignored   it ignores SIGCHLD, so that the kernel reaps the child */
#include "work.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_MOVED 3

static void move_and_burn(int ms)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", getenv("ACCURACY_ELSEWHERE"));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(NOT_MOVED);
	close(fd);
	burn(ms);
}

int main(int argc, char **argv)
{
	int ms = get_number(argc, argv, 1, 300), status = 0;

	if (!getenv("ACCURACY_ELSEWHERE"))
		skip("there is no cgroup to move to");
	if (argc > 2 && strcmp(argv[2], "ignored") == 0)
		signal(SIGCHLD, SIG_IGN);
	waitpid(start_child(move_and_burn, ms), &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_MOVED)
		skip("this user cannot move to another cgroup");
	burn(ms / 4);
	return 0;
}
