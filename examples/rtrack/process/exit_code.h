/* SPDX-License-Identifier: MIT */
/* The exit code of a subcommand that starts a command. The numbers are in message.h. */
#ifndef EXIT_CODE_H
#define EXIT_CODE_H

#include <rtrack/rtrack.h>

/* Returns the exit code for a command that rt_command_start() did not start, by its error. */
int exit_code_of_failed_start(int err);

/* Returns the exit code for a command that has ended. */
int exit_code_of_outcome(const struct rt_outcome *outcome);

#endif
