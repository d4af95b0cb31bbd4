/* SPDX-License-Identifier: MIT */
/* Process file descriptors. */
#include "os/process/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* The first version of struct pidfd_info in include/uapi/linux/pidfd.h (Linux 6.13), which later
 * kernels accept, too. Since Linux 6.15 a process that was reaped has an exit code. */
struct exit_info {
	uint64_t mask, cgroup_id;
	uint32_t pid, tgid, ppid, ids[8];
	int32_t exit_code;
};

/* P_PIDFD of waitid(2), which C libraries of our age do not all name. */
#define ID_IS_PIDFD 3
#define DUMPED_CORE 0x80 /* in a status of wait(2) */

#define GET_INFO _IOWR(0xFF, 11, struct exit_info)
#define HAS_CGROUP_ID (UINT64_C(1) << 2)
#define HAS_EXIT_CODE (UINT64_C(1) << 3)

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

int rti_pidfd_wait(int fd, int waker, int64_t timeout_ns)
{
	struct pollfd wakers[] = { { .fd = fd, .events = POLLIN },
		                   { .fd = waker, .events = POLLIN } };
	const struct timespec timeout = { .tv_sec = timeout_ns / NS_PER_S,
		                          .tv_nsec = (long)(timeout_ns % NS_PER_S) };
	int n = ppoll(wakers, 2, timeout_ns < 0 ? NULL : &timeout, NULL);

	if (n < 0)
		return -errno;
	return n == 0 || !wakers[0].revents ? -ETIMEDOUT : 0;
}

/* A kernel that keeps no exit (6.13, 6.14) answers ESRCH once the process was reaped. A kernel
 * without this request answers ENOTTY or EINVAL. */
static int read_info(int fd, struct exit_info *info)
{
	if (fd < 0)
		return -EOPNOTSUPP;
	info->mask = HAS_CGROUP_ID | HAS_EXIT_CODE;
	/* Not by ioctl(): the type of its request differs between C libraries. */
	if (syscall(SYS_ioctl, fd, GET_INFO, info) < 0)
		return errno == ESRCH ? -ESRCH : -EOPNOTSUPP;
	return 0;
}

int rti_pidfd_cgroup_id(int fd, uint64_t *id)
{
	struct exit_info info = { 0 };
	int err = read_info(fd, &info);

	if (err < 0)
		return err;
	if (!(info.mask & HAS_CGROUP_ID))
		return -ESRCH;
	*id = info.cgroup_id;
	return 0;
}

int rti_pidfd_exit_status(int fd, int *status)
{
	struct exit_info info = { 0 };
	int err = read_info(fd, &info);

	if (err < 0)
		return err;
	if (!(info.mask & HAS_EXIT_CODE))
		return -EAGAIN;
	*status = info.exit_code;
	return 0;
}

int rti_pidfd_reap(int fd, int *status)
{
	siginfo_t info = { 0 };

	if (waitid((idtype_t)ID_IS_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG) < 0)
		return errno == ECHILD ? -ECHILD : -EOPNOTSUPP;
	if (info.si_pid == 0)
		return -EAGAIN;
	*status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
	if (info.si_code == CLD_DUMPED)
		*status |= DUMPED_CORE;
	return 0;
}

void rti_pidfd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
