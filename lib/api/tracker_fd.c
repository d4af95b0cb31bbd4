/* SPDX-License-Identifier: MIT */
/* A tracker in the event loop of a host. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/tracker.h"
#include "tree/event_loop.h"

int rt_tracker_fd(const struct rt_tracker *t)
{
	if (!t)
		return -EFAULT;
	/* The tracker of a command has a lock: rt_command_fd() is for that. */
	return t->kind == RT_KIND_PID && !t->lock ? rti_tree_fd(t->tree) : -EOPNOTSUPP;
}
