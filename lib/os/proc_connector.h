/* SPDX-License-Identifier: MIT */
/* Subscription to the kernel's process events (proc connector, netlink).
 *
 * They report every fork and exit on the system. Since Linux 6.6 any user may subscribe; before,
 * that takes CAP_NET_ADMIN. It is never possible outside the initial pid and user namespaces.
 *
 * Both the library and its supervisor use it. Events wait in the socket until they are drained.
 * Events that do not fit there are lost, and rti_events_drain() reports the loss. */
#ifndef RTI_PROC_CONNECTOR_H
#define RTI_PROC_CONNECTOR_H

#include "parse/process_event.h"

/* Events to subscribe to besides forks, execs and exits of processes. */
#define RTI_EVENTS_NAMES 1u        /* a process changed its name */
#define RTI_EVENTS_THREAD_EXITS 2u /* exits of threads */
#define RTI_EVENTS_TRACERS 4u      /* a tracer attached to a process */
/* Events of threads arrive with the others until the socket gets its filter. To make a filter takes
 * 20 us: a caller that is about to start a program does so afterwards. */
#define RTI_EVENTS_UNFILTERED 8u
/* For a caller that does not insist on events: no execs, since Linux 6.6, and a buffer of 1 MiB. To
 * read it when it is full takes 1.5 ms. Each socket makes a fork and exit elsewhere 2 us longer. */
#define RTI_EVENTS_CHEAP 16u

/* Subscribe to all events from now on. also is a set of the flags above.
 *
 * Events have times of CLOCK_MONOTONIC outside of time namespaces. If ahead_ns is not NULL,
 * *ahead_ns is how much the clock of the caller is ahead: 0 if the caller is in none.
 *
 * Returns a non-blocking socket, which the caller owns and closes with rti_events_close(). Returns
 * -EPERM or -EOPNOTSUPP if events are not available to the caller, or another -errno. */
int rti_events_open(unsigned also, int64_t *ahead_ns);

/* Subscribe to the starts of threads, and to nothing else. Each is an RTI_EVENT_FORK with a tid
 * other than the pid. They have a socket of their own: threads start far more often than processes,
 * and must not take up the room of the other events. also is 0 or RTI_EVENTS_UNFILTERED. Returns as
 * rti_events_open(). */
int rti_events_open_threads(unsigned also);

/* Give a socket that was opened unfiltered its filter. Events that have arrived before stay. If
 * memory is short, it stays unfiltered. fd may be negative. */
void rti_events_filter(int fd, unsigned also);
void rti_events_filter_threads(int fd);

/* Returns how many events the socket can hold. */
uint32_t rti_events_capacity(int fd);

void rti_events_close(int fd);

/* Call each() for every event that waits in the socket, but for those of an endless stream: twice
 * what the socket can hold are taken at most. Returns 0; -ENOBUFS if events were lost
 * since the last call; or another -errno. */
int rti_events_drain(int fd, void (*each)(void *arg, const struct rti_process_event *event),
                     void *arg);

#endif
