/* SPDX-License-Identifier: MIT */
/* Executes a program that is searched for in PATH. */
#include "os/path_exec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rti_path_exec(char **argv)
{
	const char *dir = getenv("PATH"), *end;
	size_t name_len = strlen(argv[0]) + 1, dir_len;
	bool is_refused = false;
	char path[4096];

	if (!argv[0][0])
		return ENOENT;
	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, environ);
		return errno;
	}
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		dir_len = (size_t)(end - dir);
		if (dir_len + 1 + name_len > sizeof(path))
			continue;
		memcpy(path, dir, dir_len);
		path[dir_len] = '/';
		/* An empty entry of PATH is the working directory. */
		memcpy(path + dir_len + (dir_len > 0), argv[0], name_len);
		execve(path, argv, environ);
		if (errno == EACCES)
			is_refused = true;
		else if (errno != ENOENT && errno != ENOTDIR)
			return errno;
	}
	return is_refused ? EACCES : ENOENT;
}
