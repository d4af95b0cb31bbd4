/* SPDX-License-Identifier: MIT */
/* Process file descriptors. */
#include "pidfd.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on every architecture; C libraries of our age do not name them all. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int pidfd_open_of(int32_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* To kill(2), a pid below 1 would mean a group of processes, or all. */
int pidfd_signal(int fd, int32_t pid, int signal)
{
	long result;

	if (pid <= 0)
		return -EINVAL;
	result = fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) : kill(pid, signal);
	return result < 0 ? -errno : 0;
}
