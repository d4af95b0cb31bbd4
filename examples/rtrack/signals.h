/* SPDX-License-Identifier: MIT */
/* What signals do to rtrack. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

/* A reader that goes away and a file that may not grow are errors to report, no reason to die
 * while a command runs. */
void signals_survive_output_errors(void);

/* From here on signals wait, until they can be forwarded. Those that were ignored when rtrack
 * was started stay so, for the command too. */
void signals_hold(void);

/* Forward TERM, HUP, USR1 and USR2 to the command, those that have waited included. INT and QUIT
 * do nothing: a terminal sends them to the command itself. */
void signals_forward(struct rt_command *command);

/* The command is about to be freed: forward nothing any more. */
void signals_stop_forwarding(void);

/* From here on INT, QUIT, TERM and HUP only ask for the end. */
void signals_catch_end(void);

/* Sleep until a CLOCK_MONOTONIC time, or until one of the descriptors is ready, or until the end
 * is asked for. */
void signals_sleep(int64_t deadline, struct pollfd *fds, unsigned count);

/* Whether it was asked for. */
bool signals_end_requested(void);

#endif
