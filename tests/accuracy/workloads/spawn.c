/* SPDX-License-Identifier: MIT */
/* spawn COUNT: as many times the smallest program there is, through posix_spawn(). */
#include "work.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[] = "true", *arguments[] = { name, NULL };

	for (int count = number(argc, argv, 1, 1000); count > 0; count--) {
		pid_t pid;

		errno = posix_spawnp(&pid, name, NULL, NULL, arguments, environ);
		if (errno)
			cannot("posix_spawnp");
		wait_for(pid);
	}
	return 0;
}
