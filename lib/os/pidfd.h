/* SPDX-License-Identifier: MIT */
/* Process file descriptors, pidfd_open(2), since Linux 5.3: a process that cannot be mistaken
 * for another one that reuses its pid. */
#ifndef RTI_PIDFD_H
#define RTI_PIDFD_H

#include <stdint.h>

/* Open a process. Returns a descriptor that is close-on-exec, or -1: there is no such process,
 * or the kernel has no pidfds. */
int rti_pidfd_open(int32_t pid);

/* Send a signal by the descriptor, or by pid if that is -1. Async-signal-safe; leaves errno
 * alone. Returns 0 or -errno. */
int rti_pidfd_signal(int fd, int32_t pid, int signal);

/* Wait for the end of the process for timeout_ns; a negative time has no bound. Returns 0;
 * -ETIMEDOUT; -EINTR; or another -errno. */
int rti_pidfd_wait(int fd, int64_t timeout_ns);

/* Nothing if fd is -1. */
void rti_pidfd_close(int fd);

#endif
