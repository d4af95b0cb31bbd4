/* SPDX-License-Identifier: MIT */
/* A descriptor for the event loop of a host: readable when one of several descriptors has become
 * so, or at a time.
 *
 * It is an epoll instance, which nests in epoll(7), poll(2) and select(2). It notes changes
 * (EPOLLET): what is readable for ever, such as the pidfd of a process that has exited, is noted
 * once and then cleared, so that the loop does not spin.
 *
 * A forked child shares the instance and the timer with its parent. So only the process that has
 * opened it clears it and sets its time. */
#ifndef RTI_WAKEUP_H
#define RTI_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

/* Written by wakeup.c only. */
struct rti_wakeup {
	int epoll, timer; /* -1 while closed; the timer also if it was not asked for */
	int32_t owner;    /* pid of the process that has opened it */
};

#define RTI_WAKEUP_INIT                                                                            \
	{                                                                                          \
		-1, -1, 0                                                                          \
	}

/* Open a closed one. Returns 0 or -errno: -EMFILE, -ENFILE, -ENOMEM. */
int rti_wakeup_open(struct rti_wakeup *wakeup, bool has_timer);

/* Whether another process has opened it, and this one is a forked child of that. */
bool rti_wakeup_is_foreign(const struct rti_wakeup *wakeup);

/* Watch a descriptor, which stays the caller's. It is no longer watched once it is closed. Returns
 * 0 or -errno. */
int rti_wakeup_add(const struct rti_wakeup *wakeup, int fd);

/* Become readable at a time of CLOCK_MONOTONIC, and stay so until the next call. 0: at once.
 * UINT64_MAX: never. Nothing while it is closed, and in a forked child. */
void rti_wakeup_set_time(const struct rti_wakeup *wakeup, uint64_t at_ns);

/* Clear what has been noted of the descriptors, before they are looked at: what happens later is
 * noted again. Nothing while it is closed, and in a forked child. */
void rti_wakeup_clear(const struct rti_wakeup *wakeup);

void rti_wakeup_close(struct rti_wakeup *wakeup);

#endif
