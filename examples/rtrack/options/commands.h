/* SPDX-License-Identifier: MIT */
/* The subcommands, one per file. Each returns the exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "options.h"

int command_run(const struct options *options);
int command_attach(const struct options *options);
int command_system(const struct options *options);
int command_trace(const struct options *options);
int command_rusage(const struct options *options);
int command_info(const struct options *options);

/* Report what is wrong with the operands, and name the option --help. Returns the exit code. */
int usage_error(const struct options *options, const char *what);

/* Likewise, of the first operand of a subcommand that takes none. hint: what stands behind it. */
int unexpected_argument(const struct options *options, const char *hint);

#endif
