/* SPDX-License-Identifier: MIT */
/* A tracker in the event loop of a host. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/tracker.h"
#include "tree/event_loop.h"

int rt_tracker_fd(const struct rt_tracker *t)
{
	int err;

	if (!t)
		return -EFAULT;
	err = rti_tracker_check_recorder(t);
	if (err == -ECHILD)
		return err;
	/* With a lock, it is the tracker of a command: rt_command_fd() is for that. */
	return t->kind == RT_KIND_PID && err == 0 && !t->lock ? rti_tree_fd(t->tree) : -EOPNOTSUPP;
}
