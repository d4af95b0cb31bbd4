/* SPDX-License-Identifier: MIT */
/* setuid_exec PROGRAM MS: a child executes PROGRAM, a copy of this program that is set-user-id to
 * another user. After that, this user may no longer read most of its files in /proc. */
#include "work.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char *copy;

static void execute_copy(int ms)
{
	char text[16];

	burn(ms);
	snprintf(text, sizeof(text), "%d", ms);
	execl(copy, copy, "", text, (char *)NULL);
	skip_with_errno(copy);
}

static int run_as_copy(int ms)
{
	if (geteuid() == getuid())
		skip("set-user-id programs have no effect here");
	burn(ms);
	return 0;
}

int main(int argc, char **argv)
{
	int ms = get_number(argc, argv, 2, 250), status;

	if (argc < 2)
		return 2;
	copy = argv[1];
	if (!copy[0])
		return run_as_copy(ms);
	burn(ms);
	waitpid(start_child(execute_copy, ms), &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
