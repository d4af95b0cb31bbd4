/* SPDX-License-Identifier: MIT */
/* Process file descriptors, pidfd_open(2), since Linux 5.3: a process that cannot be mistaken
 * for another one that reuses its pid. */
#ifndef RTI_PIDFD_H
#define RTI_PIDFD_H

#include <stdint.h>

/* Open a process. Returns a descriptor that is close-on-exec, or -1 with errno: there is no such
 * process, no descriptor is left, or the kernel has no pidfds. */
int rti_pidfd_open(int32_t pid);

/* Send a signal by the descriptor, or by pid if that is -1. Async-signal-safe; leaves errno
 * alone. Returns 0 or -errno. */
int rti_pidfd_signal(int fd, int32_t pid, int signal);

/* Wait for the end of the process for timeout_ns; a negative time has no bound. A waker, unless it
 * is -1, ends the wait once it is readable. Returns 0; -ETIMEDOUT, also for the waker; -EINTR; or
 * another -errno. */
int rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);

/* Read how a process ended, as from wait(2). Any process may ask, not only the parent. Returns 0;
 * -EAGAIN if no process has reaped it yet; -EOPNOTSUPP before Linux 6.15; or another -errno. */
int rti_pidfd_exit_status(int fd, int *status);

/* Wait for a child of the caller that has exited, and for no other with its pid. Returns 0; -EAGAIN
 * if it has not exited; -ECHILD if it is no child of the caller, or was reaped; or -EOPNOTSUPP
 * (before Linux 5.4). */
int rti_pidfd_reap(int fd, int *status);

/* Read the number of the cgroup (v2) that a process is in, or was in when it exited, even if it has
 * been reaped since. It is the inode number of the directory; 1 is the root of the hierarchy.
 * Returns 0; -ESRCH if the kernel has forgotten it (before Linux 6.15); or -EOPNOTSUPP (before
 * 6.13). */
int rti_pidfd_cgroup_id(int fd, uint64_t *id);

/* Nothing if fd is -1. */
void rti_pidfd_close(int fd);

#endif
