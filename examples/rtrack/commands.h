/* SPDX-License-Identifier: MIT */
/* The subcommands. Each has a file of its own, and returns the exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "options.h"

int command_run(const struct options *options);
int command_attach(const struct options *options);
int command_system(const struct options *options);
int command_rusage(const struct options *options);
int command_info(const struct options *options);

/* What is wrong with the operands: told, with a hint. Returns the exit code. */
int usage_error(const struct options *options, const char *what);

#endif
