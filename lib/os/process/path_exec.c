/* SPDX-License-Identifier: MIT */
/* Executes a program that is searched for in PATH. */
#include "os/process/path_exec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel reads the texts from the memory that the exec replaces. So have them mapped. */
static void touch(char *const *texts)
{
	for (size_t i = 0; texts[i]; i++) {
		const volatile char *at = texts[i];

		while (*at)
			at++;
	}
}

/* By syscall(2) alone, which maps no page between the two calls that it has not mapped before. */
static int execute(const char *path, char **argv, char **envp, int64_t *maxrss_kib)
{
	struct rusage use = { 0 };

	if (maxrss_kib && syscall(SYS_getrusage, RUSAGE_SELF, &use) == 0)
		*maxrss_kib = use.ru_maxrss;
	syscall(SYS_execve, path, argv, envp);
	return errno;
}

int rti_path_exec(char **argv, char **envp, int64_t *maxrss_kib)
{
	const char *dir = getenv("PATH"), *end;
	size_t name_len = strlen(argv[0]) + 1, dir_len;
	bool is_refused = false;
	char path[4096];
	int error;

	if (!argv[0][0])
		return ENOENT;
	touch(argv);
	envp = envp ? envp : environ;
	touch(envp);
	if (strchr(argv[0], '/'))
		return execute(argv[0], argv, envp, maxrss_kib);
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		dir_len = (size_t)(end - dir);
		if (dir_len + 1 + name_len > sizeof(path))
			continue;
		memcpy(path, dir, dir_len);
		path[dir_len] = '/';
		/* An empty entry of PATH is the working directory. */
		memcpy(path + dir_len + (dir_len > 0), argv[0], name_len);
		error = execute(path, argv, envp, maxrss_kib);
		if (error == EACCES)
			is_refused = true;
		else if (error != ENOENT && error != ENOTDIR)
			return error;
	}
	return is_refused ? EACCES : ENOENT;
}
