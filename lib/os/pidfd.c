/* SPDX-License-Identifier: MIT */
/* Process file descriptors. */
#include "os/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* The numbers are the same on every architecture; C libraries of our age do not name them all. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int rti_pidfd_open(int32_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	int saved = errno, err = 0;
	long result =
	    fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) : kill(pid, signal);

	if (result < 0)
		err = -errno;
	errno = saved;
	return err;
}

int rti_pidfd_wait(int fd, int64_t timeout_ns)
{
	struct pollfd end = { .fd = fd, .events = POLLIN };
	const struct timespec timeout = { .tv_sec = timeout_ns / NS_PER_S,
		                          .tv_nsec = timeout_ns % NS_PER_S };
	int n = ppoll(&end, 1, timeout_ns < 0 ? NULL : &timeout, NULL);

	if (n < 0)
		return -errno;
	return n == 0 ? -ETIMEDOUT : 0;
}

void rti_pidfd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
