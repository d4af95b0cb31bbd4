/* SPDX-License-Identifier: MIT */
/* The descriptors 0, 1 and 2 of a host that has closed some of them. */
#include "os/process/standard_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int rti_standard_fds_hold(struct rti_standard_fds *held)
{
	int fd, err;

	held->count = 0;
	/* O_PATH: it can neither be read nor written, as if it was closed. */
	while ((fd = open("/", O_PATH | O_CLOEXEC)) >= 0 && fd <= STDERR_FILENO)
		held->fds[held->count++] = fd;
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	err = -errno;
	rti_standard_fds_release(held);
	return err;
}

void rti_standard_fds_release(struct rti_standard_fds *held)
{
	while (held->count > 0)
		close(held->fds[--held->count]);
}
