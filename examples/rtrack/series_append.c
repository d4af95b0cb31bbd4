/* SPDX-License-Identifier: MIT */
/* Looks at a file that a series is appended to. */
#include "series_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open a file for reading that is open for writing, whatever names it has. Returns a descriptor, or
 * a negative errno value. */
static int open_again(int fd)
{
	char path[40];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

bool ends_in_torn_row(int fd, off_t size)
{
	int reader = open_again(fd);
	char last = '\n';

	if (reader < 0)
		return false;
	if (pread(reader, &last, 1, size - 1) != 1)
		last = '\n';
	close(reader);
	return last != '\n';
}

int read_head(int fd, char head[HEAD_MAX])
{
	int reader = open_again(fd);
	char *end;
	ssize_t len;

	if (reader < 0)
		return reader;
	len = pread(reader, head, HEAD_MAX - 1, 0);
	close(reader);
	if (len < 0)
		return -EIO;
	head[len] = '\0';
	end = strchr(head, '\n');
	if (!end)
		return -EINVAL;
	*end = '\0';
	return 0;
}
