/* SPDX-License-Identifier: MIT */
/* The kernel's process events (proc connector, netlink): every fork and exit on the machine.
 * Open to everybody since Linux 6.6, to CAP_NET_ADMIN before, and to nobody outside the first
 * pid and user namespaces.
 *
 * Used by the library and by its supervisor. Events wait in the socket until they are drained;
 * what does not fit there is lost, and that is told. */
#ifndef RTI_EVENTS_H
#define RTI_EVENTS_H

#include "parse/process_event.h"

/* What to hear of, apart from forks, execs and ends of processes. */
#define RTI_EVENTS_NAMES 1u        /* new names that they give themselves */
#define RTI_EVENTS_THREAD_EXITS 2u /* the end of threads, too */

/* A socket that hears of everything from now on; or -errno: -EPERM and -EOPNOTSUPP where there
 * are no events for us. */
int rti_events_open(unsigned also);

/* How many may wait. */
uint32_t rti_events_capacity(int fd);

void rti_events_close(int fd);

/* Hand out all that wait. 0; -ENOBUFS when some were lost since the last time; or another
 * -errno. */
int rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                     void *arg);

#endif
