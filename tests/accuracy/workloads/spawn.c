/* SPDX-License-Identifier: MIT */
/* spawn COUNT: the smallest program, `true`, that many times, by posix_spawn(). */
#include "work.h"

#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[] = "true", *arguments[] = { name, NULL };

	for (int count = get_number(argc, argv, 1, 1000); count > 0; count--) {
		pid_t pid;

		errno = posix_spawnp(&pid, name, NULL, NULL, arguments, environ);
		if (errno)
			skip_with_errno("posix_spawnp");
		wait_for(pid);
	}
	return 0;
}
