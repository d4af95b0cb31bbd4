/* SPDX-License-Identifier: MIT */
/* Subscription to the kernel's exit accounts (taskstats, generic netlink).
 *
 * Each thread of the system that exits sends one, before its parent can reap the process. It takes
 * CAP_NET_ADMIN, the initial namespaces of users, pids and the network, and CONFIG_TASKSTATS. */
#ifndef RTI_TASKSTATS_H
#define RTI_TASKSTATS_H

#include "parse/taskstats.h"

/* Subscribe to the exits on these CPUs: a list as in /sys/devices/system/cpu/possible. Returns a
 * non-blocking socket, which the caller owns; or a negative errno. */
int rti_taskstats_open(const char *cpus);

/* Call each() for every account that waits in the socket. Returns 0; -ENOBUFS at once if some were
 * lost, and more may wait; -EOPNOTSUPP if the kernel is too old for them; or another -errno. */
int rti_taskstats_drain(int fd, void (*each)(void *arg, const struct rti_task_exit *exited),
                        void *arg);

#endif
