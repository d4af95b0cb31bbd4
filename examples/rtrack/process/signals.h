/* SPDX-License-Identifier: MIT */
/* Signal handling of rtrack. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

/* Catch SIGPIPE and SIGXFSZ, so a closed pipe or a file size limit makes write(2) fail and does not
 * kill rtrack while a command runs. */
void signals_survive_output_errors(void);

/* Block the signals to forward, INT and QUIT until signals_forward(). Signals that were ignored
 * when rtrack was started stay ignored, also in the command. */
void signals_hold(void);

/* Returns a signal that requests the end and waits for signals_forward(), or 0. */
int signals_pending_end(void);

/* Forward TERM, HUP, USR1, USR2 and CONT to the command, including those that are pending, and CONT
 * after TERM and HUP. INT and QUIT do nothing: a terminal sends them to the command as well. Once
 * the command has ended, all but USR1, USR2 and CONT request the end. Those also end the wait for
 * the command that is in progress, or the next one. */
void signals_forward(struct rt_command *command);

/* Whether the next INT, QUIT, TERM or HUP requests the end also while the command runs. Requests
 * that were made before are forgotten. */
void signals_end_at_once(bool is_on);

/* Returns true if the command was sent a signal that may be meant to end it, by us or by the
 * terminal. */
bool signals_end_forwarded(void);

/* Stop forwarding. Call this before the command is freed. */
void signals_stop_forwarding(void);

/* Catch INT, QUIT, TERM and HUP: they only request the end of rtrack. */
void signals_catch_end(void);

/* Catch TSTP and WINCH: a terminal sends them for Ctrl-Z, and when it is resized. They end a wait.
 * The caller then looks at the terminal. */
void signals_watch_terminal(void);

/* Returns true once for each time that TSTP was caught. */
bool signals_stop_requested(void);

/* Stop rtrack, as TSTP would have done. Returns when rtrack is continued. */
void signals_stop(void);

/* Sleep until a CLOCK_MONOTONIC time, until a descriptor is ready, or until a signal requests the
 * end. */
void signals_sleep(int64_t deadline, struct pollfd *fds, unsigned count);

/* Returns true if a signal has requested the end: of what rtrack follows, or of its wait for what a
 * command has left running. */
bool signals_end_requested(void);

#endif
