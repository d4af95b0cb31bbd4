/* SPDX-License-Identifier: MIT */
/* setuid_exec PROGRAM MS: a child executes a copy of this that is set-user-id to another user;
 * most of its /proc is closed to us from then on. */
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
	cannot(copy);
}

static int be_copy(int ms)
{
	if (geteuid() == getuid())
		give_up("set-user-id programs do not work here");
	burn(ms);
	return 0;
}

int main(int argc, char **argv)
{
	int ms = number(argc, argv, 2, 250), status;

	if (argc < 2)
		return 2;
	copy = argv[1];
	if (!copy[0])
		return be_copy(ms);
	burn(ms);
	waitpid(start_child(execute_copy, ms), &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
