/* SPDX-License-Identifier: MIT */
/* Ends a command and all that it has started: SIGTERM, a grace time, SIGKILL. Or gives it up: what
 * is frozen, or in uninterruptible sleep, acts on no signal. */
#include "ending.h"

#include <errno.h>
#include <stdio.h>

#include "follow/clock.h"
#include "process/frozen.h"
#include "process/signals.h"
#include "process/tree.h"
#include "text/message.h"
#include "text/units.h"

#define GRACE_NS (5 * NS_PER_S)
#define AGAIN_NS NS_PER_S /* between two looks at what does not end */
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

/* From here on, signals that end are for rtrack. E.g. of an error: a user runs sudo(8), which is a
 * process of root then. */
static void kill_all(struct ending *e)
{
	int err = rt_command_kill(e->command);

	if (!e->is_killing)
		signals_end_at_once(true);
	e->is_killing = true;
	patience_begin(&e->patience, clock_now());
	if (err < 0 && !e->has_warned) {
		warn("cannot end all processes of the command: %s", rt_strerror(err));
		e->has_warned = true;
	}
}

static void warn_of_left(const struct ending *e)
{
	struct tree_left left;
	char what[160];

	tree_find_left(rt_command_tracker(e->command), &left);
	left.count = left.count > e->left_running ? left.count : e->left_running;
	if (left.stuck_pid)
		snprintf(what, sizeof(what), "process %d (%s) does not end: it is %s",
		         (int)left.stuck_pid, left.comm,
		         process_is_frozen(left.stuck_pid) ? "frozen (by its cgroup)"
		                                           : "in uninterruptible sleep (state D)");
	else
		snprintf(what, sizeof(what), "at least %s process%s of the command %s not end",
		         human_count(left.count).s, left.count == 1 ? "" : "es",
		         left.count == 1 ? "does" : "do");
	warn("%s; rtrack ends in %d s, or on SIGINT or SIGTERM", what, PATIENCE_LEFT_S);
}

/* Without a limit, rtrack sends no SIGKILL: the command decides what the signals mean that are
 * forwarded, unless it cannot act on them. */
static void look_at_forwarded(struct ending *e)
{
	if (!signals_end_forwarded())
		return;
	e->next_at = clock_now() + AGAIN_NS;
	if (process_is_deaf(rt_command_pid(e->command))) {
		patience_begin(&e->patience, clock_now());
		return;
	}
	if (e->patience.warned)
		signals_end_at_once(false);
	e->patience = (struct patience){ 0 };
}

void ending_look(struct ending *e)
{
	if (!e->has_begun)
		look_at_forwarded(e);
	switch (patience_step(&e->patience, clock_now(), signals_end_requested())) {
	case PATIENCE_WAITS:
		break;
	case PATIENCE_WARNS:
		/* Before the line, which a signal may answer. */
		if (!e->has_begun)
			signals_end_at_once(true);
		warn_of_left(e);
		break;
	case PATIENCE_ENDS:
		e->is_given_up = true;
	}
}

void ending_continue(struct ending *e)
{
	if (clock_now() < e->next_at)
		return;
	if (e->has_begun) {
		kill_all(e);
		e->next_at = clock_now() + AGAIN_NS;
	}
	ending_look(e);
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
	for (;;) {
		int err;

		kill_all(e);
		do {
			err = rt_command_wait(e->command, 0, outcome, sizeof(*outcome));
		} while (err == -EINTR);
		if (err < 0 || outcome->left_running == 0)
			return;
		e->left_running = outcome->left_running;
		ending_look(e);
		if (e->is_given_up)
			return;
		signals_sleep(clock_now() + NAP_NS, NULL, 0);
	}
}

void ending_report(const struct ending *e, uint64_t left_running)
{
	if (e->is_given_up)
		warn("at least %s process%s of the command could not be ended: %s",
		     human_count(left_running).s, left_running == 1 ? "" : "es",
		     e->has_begun ? "SIGKILL was sent" : "it does not act on signals");
}
