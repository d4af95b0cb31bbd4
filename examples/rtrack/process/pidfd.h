/* SPDX-License-Identifier: MIT */
/* Process file descriptors. */
#ifndef PIDFD_H
#define PIDFD_H

#include <stdint.h>

/* Returns a descriptor, or -1. pidfd_open(2) exists since Linux 5.3. */
int pidfd_open_of(int32_t pid);

/* Send a signal to the process of a descriptor. If that is negative, send it to the pid. Returns 0
 * or a negative errno value. */
int pidfd_signal(int fd, int32_t pid, int signal);

#endif
