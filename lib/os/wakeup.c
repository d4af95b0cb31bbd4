/* SPDX-License-Identifier: MIT */
/* A descriptor for the event loop of a host. */
#include "os/wakeup.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS_PER_S 1000000000u
#define EVENTS_MAX 4 /* taken at a time */

static int watch(int epoll, int fd, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int rti_wakeup_open(struct rti_wakeup *wakeup, bool has_timer)
{
	int err = 0;

	wakeup->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (wakeup->epoll < 0)
		return -errno;
	wakeup->owner = getpid();
	/* Watched by its level: an expired timer stays readable until it is set again. */
	if (has_timer) {
		wakeup->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		err = wakeup->timer < 0 ? -errno : watch(wakeup->epoll, wakeup->timer, 0);
	}
	if (err < 0)
		rti_wakeup_close(wakeup);
	return err;
}

bool rti_wakeup_is_foreign(const struct rti_wakeup *wakeup)
{
	return wakeup->epoll >= 0 && wakeup->owner != getpid();
}

int rti_wakeup_add(const struct rti_wakeup *wakeup, int fd)
{
	return watch(wakeup->epoll, fd, EPOLLET);
}

/* A time of 0 would disarm the timer. */
void rti_wakeup_set_time(const struct rti_wakeup *wakeup, uint64_t at_ns)
{
	uint64_t ns = at_ns == UINT64_MAX ? 0 : at_ns ? at_ns : 1;
	const struct itimerspec at = { .it_value = { .tv_sec = (time_t)(ns / NS_PER_S),
		                                     .tv_nsec = (long)(ns % NS_PER_S) } };

	if (wakeup->timer >= 0 && !rti_wakeup_is_foreign(wakeup))
		timerfd_settime(wakeup->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

void rti_wakeup_clear(const struct rti_wakeup *wakeup)
{
	struct epoll_event events[EVENTS_MAX];

	if (wakeup->epoll >= 0 && !rti_wakeup_is_foreign(wakeup))
		epoll_wait(wakeup->epoll, events, EVENTS_MAX, 0);
}

void rti_wakeup_close(struct rti_wakeup *wakeup)
{
	if (wakeup->epoll >= 0)
		close(wakeup->epoll);
	if (wakeup->timer >= 0)
		close(wakeup->timer);
	*wakeup = (struct rti_wakeup)RTI_WAKEUP_INIT;
}
