/* SPDX-License-Identifier: MIT */
/* A plug-in that must not be opened. If it is, it makes the file named by PLANTED_MARK. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void make_mark(void)
{
	const char *mark = getenv("PLANTED_MARK");

	if (mark)
		close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}
