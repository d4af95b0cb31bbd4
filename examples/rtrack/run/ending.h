/* SPDX-License-Identifier: MIT */
/* Ends a command and all that it has started: SIGTERM, a grace time, SIGKILL. */
#ifndef ENDING_H
#define ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "patience.h"

struct ending {
	struct rt_command *command;
	struct patience patience;
	int64_t next_at;       /* when the next signal or look is due, or NEVER */
	uint64_t left_running; /* after the last SIGKILL, once the command itself has ended */
	bool has_begun;
	bool is_killing;  /* SIGKILL was sent */
	bool has_warned;  /* of processes that may not be signalled */
	bool is_given_up; /* something does not end, and is not waited for any longer */
};

void ending_init(struct ending *e, struct rt_command *command);

/* Send SIGTERM to all processes of the command. */
void ending_begin(struct ending *e);

/* Send SIGKILL if it is due: at the end of the grace time, and again each second, for what was
 * forked meanwhile. Look at what does not end. */
void ending_continue(struct ending *e);

/* Say what does not end, and give it up when it is time, or when a signal asks for that. */
void ending_look(struct ending *e);

/* Do without the grace time, or the rest of it. */
void ending_hurry(struct ending *e);

/* Whether there is something to wait for, once the command itself has ended: the grace time is not
 * over, and processes that the command has started run on. */
bool ending_is_graceful(const struct ending *e);

/* Kill all that still runs, once the command itself has ended, until nothing does or it is given
 * up. The new outcome includes what they used. */
void ending_finish(struct ending *e, struct rt_outcome *outcome);

/* If something was given up, say how much. */
void ending_report(const struct ending *e, uint64_t left_running);

#endif
