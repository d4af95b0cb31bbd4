/* SPDX-License-Identifier: MIT */
/* Looks at a file that a series is appended to. */
#include "series_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

bool ends_in_torn_row(const char *name, off_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char last = '\n';

	if (fd < 0)
		return false;
	if (pread(fd, &last, 1, size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

int read_head(const char *name, char head[HEAD_MAX])
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *end;
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = pread(fd, head, HEAD_MAX - 1, 0);
	close(fd);
	if (len < 0)
		return -EIO;
	head[len] = '\0';
	end = strchr(head, '\n');
	if (!end)
		return -EINVAL;
	*end = '\0';
	return 0;
}
