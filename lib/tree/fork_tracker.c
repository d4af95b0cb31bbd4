/* SPDX-License-Identifier: MIT */
/* Process events of one tree: who joins it, and who has come and gone. */
#include "tree/fork_tracker.h"

#include <errno.h>
#include <stdlib.h>

#include "util/descendant_set.h"
#include "os/platform.h"
#include "os/proc_connector.h"

static int32_t own_pid(void)
{
	struct rti_platform platform;

	rti_platform_init(&platform, 0);
	return platform.getpid();
}

static void deafen(struct rti_hearing *hearing)
{
	if (hearing->fd >= 0)
		rti_events_close(hearing->fd);
	hearing->fd = -1;
}

int rti_hearing_open(struct rti_hearing *hearing)
{
	*hearing = (struct rti_hearing){ .fd = -1, .owner = own_pid() };
	hearing->fd = rti_events_open(0);
	if (hearing->fd < 0)
		return hearing->fd;
	hearing->descendants = calloc(1, sizeof(*hearing->descendants));
	if (!hearing->descendants) {
		deafen(hearing);
		return -ENOMEM;
	}
	return 0;
}

void rti_hearing_begin(struct rti_hearing *hearing, int32_t root)
{
	hearing->root = root;
	rti_hearing_note(hearing, root);
}

void rti_hearing_close(struct rti_hearing *hearing)
{
	deafen(hearing);
	free(hearing->descendants);
	free(hearing->newcomers);
	*hearing = (struct rti_hearing)RTI_HEARING_INIT;
}

int rti_hearing_is_whole(const struct rti_hearing *hearing)
{
	return hearing->fd >= 0;
}

static void welcome(struct rti_hearing *hearing, int32_t pid)
{
	size_t cap = hearing->cap ? hearing->cap * 2 : 64;
	int32_t *newcomers;

	if (hearing->count == hearing->cap) {
		newcomers = realloc(hearing->newcomers, cap * sizeof(*newcomers));
		if (!newcomers) {
			hearing->has_lost = 1;
			return;
		}
		hearing->newcomers = newcomers;
		hearing->cap = cap;
	}
	hearing->newcomers[hearing->count++] = pid;
}

static void see_exit(struct rti_hearing *hearing, const struct rti_process_event *event)
{
	if (event->tid != event->pid)
		return;
	if (event->pid != hearing->root && event->ppid && rti_descendant_set_has(hearing->descendants, event->pid) &&
	    !rti_descendant_set_has(hearing->descendants, event->ppid))
		hearing->has_lost_orphan = 1;
	rti_descendant_set_exit(hearing->descendants, event->pid);
}

static void see_event(void *arg, const struct rti_process_event *event)
{
	struct rti_hearing *hearing = arg;

	switch (event->kind) {
	case RTI_EVENT_FORK:
		/* The root is forked by a stranger; and we may have listened before that. */
		if (event->pid == hearing->root && rti_descendant_set_is_alive(hearing->descendants, event->pid))
			break;
		if (rti_descendant_set_fork(hearing->descendants, event->ppid, event->pid))
			welcome(hearing, event->pid);
		else if (event->ppid == hearing->owner && event->pid != hearing->root)
			hearing->has_sibling = 1;
		break;
	case RTI_EVENT_EXEC:
		rti_descendant_set_exec(hearing->descendants, event->pid);
		break;
	case RTI_EVENT_EXIT:
		see_exit(hearing, event);
		break;
	case RTI_EVENT_COMM:
		break;
	}
}

void rti_hearing_listen(struct rti_hearing *hearing)
{
	if (hearing->fd < 0)
		return;
	/* The child of a fork leaves to its parent what comes. */
	if (hearing->owner != own_pid() || rti_events_drain(hearing->fd, see_event, hearing) < 0)
		hearing->has_lost = 1;
	if (hearing->has_lost)
		deafen(hearing);
}

void rti_hearing_take(struct rti_hearing *hearing,
                      void (*each)(void *arg, int32_t pid, int has_ended), void *arg)
{
	for (size_t i = 0; i < hearing->count; i++) {
		int32_t pid = hearing->newcomers[i];

		/* Else its number is a stranger's by now. */
		if (rti_descendant_set_has(hearing->descendants, pid))
			each(arg, pid, !rti_descendant_set_is_alive(hearing->descendants, pid));
	}
	hearing->count = 0;
}

/* What was heard of is known already, and so may its end be. */
void rti_hearing_note(struct rti_hearing *hearing, int32_t pid)
{
	if (hearing->descendants && !rti_descendant_set_has(hearing->descendants, pid))
		rti_descendant_set_add(hearing->descendants, pid);
}
