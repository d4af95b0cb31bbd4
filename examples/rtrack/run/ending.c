/* SPDX-License-Identifier: MIT */
/* Ends a command and all that it has started: SIGTERM, a grace time, SIGKILL. */
#include "ending.h"

#include <errno.h>
#include <time.h>

#include "follow/clock.h"
#include "process/tree.h"
#include "text/message.h"
#include "text/units.h"

#define GRACE_NS (5 * NS_PER_S)
#define KILL_AGAIN_NS NS_PER_S
/* Rounds until all are gone. Each waits for 0.2 s at most, as rt_command_kill() does. */
#define KILL_ROUNDS_MAX 50
#define NAP_NS 10000000

void ending_init(struct ending *e, struct rt_command *command)
{
	*e = (struct ending){ .command = command, .next_at = NEVER };
}

void ending_begin(struct ending *e)
{
	e->has_begun = true;
	e->next_at = clock_now() + GRACE_NS;
	tree_terminate(rt_command_tracker(e->command));
}

/* E.g.: a user runs sudo(8), which is a process of root then. */
static void kill_all(struct ending *e)
{
	int err = rt_command_kill(e->command);

	e->is_killing = true;
	if (err < 0 && !e->has_warned) {
		warn("cannot end all processes of the command: %s", rt_strerror(err));
		e->has_warned = true;
	}
}

void ending_continue(struct ending *e)
{
	if (clock_now() < e->next_at)
		return;
	kill_all(e);
	e->next_at = clock_now() + KILL_AGAIN_NS;
}

void ending_hurry(struct ending *e)
{
	if (!e->is_killing)
		e->next_at = 0;
}

bool ending_is_graceful(const struct ending *e)
{
	return !e->is_killing && clock_now() < e->next_at &&
	       tree_is_running(rt_command_tracker(e->command));
}

void ending_finish(struct ending *e, struct rt_outcome *outcome)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (int round = 0; round < KILL_ROUNDS_MAX; round++) {
		if (round > 0)
			nanosleep(&nap, NULL);
		kill_all(e);
		if (rt_command_wait(e->command, 0, outcome, sizeof(*outcome)) < 0 ||
		    outcome->left_running == 0)
			return;
	}
	warn("%llu processes of the command do not end: SIGKILL was sent",
	     (unsigned long long)outcome->left_running);
}
