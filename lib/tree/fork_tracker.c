/* SPDX-License-Identifier: MIT */
/* Process events of one tree: who joins it, and who has come and gone. */
#include "tree/fork_tracker.h"

#include <errno.h>
#include <stdlib.h>

#include "os/platform.h"
#include "os/proc_connector.h"
#include "util/array.h"
#include "util/descendant_set.h"

static int32_t own_pid(void)
{
	struct rti_platform platform;

	rti_platform_init(&platform, 0);
	return platform.getpid();
}

static void unsubscribe(struct rti_fork_tracker *fork_tracker)
{
	if (fork_tracker->fd >= 0)
		rti_events_close(fork_tracker->fd);
	fork_tracker->fd = -1;
}

int rti_fork_tracker_subscribe(struct rti_fork_tracker *fork_tracker)
{
	*fork_tracker = (struct rti_fork_tracker){ .fd = -1, .owner = own_pid() };
	fork_tracker->fd = rti_events_open(0);
	if (fork_tracker->fd < 0)
		return fork_tracker->fd;
	fork_tracker->descendants = calloc(1, sizeof(*fork_tracker->descendants));
	if (!fork_tracker->descendants) {
		unsubscribe(fork_tracker);
		return -ENOMEM;
	}
	return 0;
}

void rti_fork_tracker_set_root(struct rti_fork_tracker *fork_tracker, int32_t root)
{
	fork_tracker->root = root;
	rti_fork_tracker_add(fork_tracker, root);
}

void rti_fork_tracker_close(struct rti_fork_tracker *fork_tracker)
{
	unsubscribe(fork_tracker);
	free(fork_tracker->descendants);
	free(fork_tracker->new_pids);
	*fork_tracker = (struct rti_fork_tracker)RTI_FORK_TRACKER_INIT;
}

bool rti_fork_tracker_is_complete(const struct rti_fork_tracker *fork_tracker)
{
	return fork_tracker->fd >= 0;
}

static void add_new_pid(struct rti_fork_tracker *fork_tracker, int32_t pid)
{
	int32_t *new_pids = rti_array_grow(fork_tracker->new_pids, &fork_tracker->cap,
	                                   fork_tracker->count + 1, sizeof(*new_pids));

	if (!new_pids) {
		fork_tracker->has_lost_events = true;
		return;
	}
	fork_tracker->new_pids = new_pids;
	fork_tracker->new_pids[fork_tracker->count++] = pid;
}

static void handle_exit(struct rti_fork_tracker *fork_tracker,
                        const struct rti_process_event *event)
{
	if (event->tid != event->pid)
		return;
	if (event->pid != fork_tracker->root && event->ppid &&
	    rti_descendant_set_has(fork_tracker->descendants, event->pid) &&
	    !rti_descendant_set_has(fork_tracker->descendants, event->ppid))
		fork_tracker->has_unwaited_exit = true;
	rti_descendant_set_exit(fork_tracker->descendants, event->pid);
}

static void handle_event(void *arg, const struct rti_process_event *event)
{
	struct rti_fork_tracker *fork_tracker = arg;

	switch (event->kind) {
	case RTI_EVENT_FORK:
		/* The root is forked by a stranger; and we may have listened before that. */
		if (event->pid == fork_tracker->root &&
		    rti_descendant_set_is_alive(fork_tracker->descendants, event->pid))
			break;
		if (rti_descendant_set_fork(fork_tracker->descendants, event->ppid, event->pid))
			add_new_pid(fork_tracker, event->pid);
		else if (event->ppid == fork_tracker->owner && event->pid != fork_tracker->root)
			fork_tracker->has_other_child = true;
		break;
	case RTI_EVENT_EXEC:
		rti_descendant_set_exec(fork_tracker->descendants, event->pid);
		break;
	case RTI_EVENT_EXIT:
		handle_exit(fork_tracker, event);
		break;
	case RTI_EVENT_COMM:
	case RTI_EVENT_OTHER:
		break;
	}
}

void rti_fork_tracker_poll(struct rti_fork_tracker *fork_tracker)
{
	if (fork_tracker->fd < 0)
		return;
	/* The child of a fork leaves to its parent what comes. */
	if (fork_tracker->owner != own_pid() ||
	    rti_events_drain(fork_tracker->fd, handle_event, fork_tracker) < 0)
		fork_tracker->has_lost_events = true;
	if (fork_tracker->has_lost_events)
		unsubscribe(fork_tracker);
}

void rti_fork_tracker_take_new(struct rti_fork_tracker *fork_tracker,
                               void (*each)(void *arg, int32_t pid, bool has_ended), void *arg)
{
	for (size_t i = 0; i < fork_tracker->count; i++) {
		int32_t pid = fork_tracker->new_pids[i];

		/* Else its number is a stranger's by now. */
		if (rti_descendant_set_has(fork_tracker->descendants, pid))
			each(arg, pid,
			     !rti_descendant_set_is_alive(fork_tracker->descendants, pid));
	}
	fork_tracker->count = 0;
}

/* What was heard of is known already, and so may its end be. */
void rti_fork_tracker_add(struct rti_fork_tracker *fork_tracker, int32_t pid)
{
	if (fork_tracker->descendants && !rti_descendant_set_has(fork_tracker->descendants, pid))
		rti_descendant_set_add(fork_tracker->descendants, pid);
}
