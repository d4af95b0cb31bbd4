/* SPDX-License-Identifier: MIT */
/* A command in the event loop of a host: a descriptor that shows when something is due. */
#include "command/event_loop.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "command/handle.h"
#include "os/process/pidfd.h"
#include "util/arith.h"

/* The program has ended, and its supervisor does not report it yet; or the caller is its own, and
 * is to handle events. */
#define REPORT_WAIT_NS 10000000u

static uint64_t next_time_ns(const struct rt_command *c)
{
	uint64_t next_look_ns = rti_min(c->next_poll_ns, c->next_look_ns);
	uint64_t take_ns = c->account.programs ? c->account.next_take_ns : UINT64_MAX;
	uint64_t next_ns = rti_min(next_look_ns, take_ns);
	uint64_t soon_ns = c->tracker->platform.monotonic_ns() + REPORT_WAIT_NS;

	if (c->is_over)
		return 0; /* readable for ever */
	if (c->supervisor.is_own)
		next_ns = rti_min(next_ns, soon_ns);
	return next_ns > soon_ns && rti_pidfd_wait(c->pidfd, -1, 0) == 0 ? soon_ns : next_ns;
}

void rti_event_loop_begin(const struct rt_command *c)
{
	rti_wakeup_clear(c->wakeup);
}

void rti_event_loop_end(const struct rt_command *c)
{
	if (c->wakeup->epoll >= 0)
		rti_wakeup_set_time(c->wakeup, next_time_ns(c));
}

static int open_once(const struct rt_command *c)
{
	int err;

	if (c->wakeup->epoll >= 0)
		return c->wakeup->epoll;
	if (c->pidfd < 0)
		return -EOPNOTSUPP;
	err = rti_wakeup_open(c->wakeup, true);
	if (err < 0)
		return err;
	/* The socket of the supervisor has the report that the program has ended. If the supervisor
	 * is killed or stopped, the pidfd of the program shows the end. */
	err = rti_wakeup_add(c->wakeup, c->pidfd);
	if (err == 0 && c->supervisor.socket >= 0)
		err = rti_wakeup_add(c->wakeup, c->supervisor.socket);
	if (err < 0) {
		rti_wakeup_close(c->wakeup);
		return err;
	}
	rti_event_loop_end(c);
	return c->wakeup->epoll;
}

int rt_command_fd(const struct rt_command *c)
{
	int fd;

	if (!c)
		return -EFAULT;
	rti_lock_take(c->tracker->lock);
	fd = open_once(c);
	rti_lock_release(c->tracker->lock);
	return fd;
}
