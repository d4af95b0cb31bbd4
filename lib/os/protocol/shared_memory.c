/* SPDX-License-Identifier: MIT */
/* Memory that is shared with a program of this library. */
#include "os/protocol/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

void rti_shared_memory_protect(int fd)
{
	/* Refused before Linux 5.1. What is read of the memory is checked all the same. */
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE);
}

int rti_memfd_new(size_t bytes, unsigned flags, int *fd)
{
	struct rlimit largest;

	*fd = -1;
	/* A memfd counts as a file: if files may not even be this large, growing it would send
	 * SIGXFSZ to the host. */
	if (getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur < bytes)
		return -EOPNOTSUPP;
	/* glibc has a function for it since 2.27. */
	*fd = (int)syscall(SYS_memfd_create, "rtrack",
	                   RTI_MFD_CLOEXEC | RTI_MFD_ALLOW_SEALING | flags);
	if (*fd >= 0)
		return 0;
	/* Before Linux 3.17, or forbidden. */
	return errno == ENOSYS || errno == EPERM || errno == EACCES ? -EOPNOTSUPP : -errno;
}

int rti_shared_memory_new(size_t bytes, void **memory, int *fd)
{
	int result = rti_memfd_new(bytes, 0, fd);
	void *mapped;

	if (result < 0)
		return result;
	do /* large memory takes a while, which a signal may interrupt */
		result = fallocate(*fd, 0, 0, (off_t)bytes);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return -errno;
	/* A process of the same user can open the memory by /proc/PID/fd. If it made it smaller, a
	 * read would be a SIGBUS. */
	(void)fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK);
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	*memory = mapped;
	return 0;
}
