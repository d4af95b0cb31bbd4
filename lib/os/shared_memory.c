/* SPDX-License-Identifier: MIT */
/* Memory that is shared with a program of this library. */
#include "os/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A memfd counts as a file: if files may not even be this large, growing it would send SIGXFSZ
 * to the host. */
static bool can_be_as_large(size_t bytes)
{
	struct rlimit largest;

	return getrlimit(RLIMIT_FSIZE, &largest) < 0 || largest.rlim_cur >= bytes;
}

/* Large memory takes a while, which a signal may interrupt. */
static int reserve(int fd, size_t bytes)
{
	int result;

	do {
		result = fallocate(fd, 0, 0, (off_t)bytes);
	} while (result < 0 && errno == EINTR);
	return result;
}

int rti_shared_memory_new(size_t bytes, void **memory, int *fd)
{
	void *mapped;

	*fd = -1;
	if (!can_be_as_large(bytes))
		return -EOPNOTSUPP;
	*fd = memfd_create("rtrack", MFD_CLOEXEC);
	if (*fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
		return -EOPNOTSUPP; /* before Linux 3.17, or forbidden */
	if (*fd < 0 || reserve(*fd, bytes) < 0)
		return -errno;
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	*memory = mapped;
	return 0;
}
