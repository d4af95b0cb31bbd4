/* SPDX-License-Identifier: MIT */
/* Parses arguments by the table of options. */
#ifndef OPTION_PARSER_H
#define OPTION_PARSER_H

#include <stdbool.h>

#include "options.h"

/* Parse all arguments, where the options of these subcommands are known (FOR_ bits). Options that
 * the subcommand itself does not have are ignored. Returns true, with optind at the first operand,
 * if the subcommand must run. Otherwise help was shown or an error was reported: returns false and
 * sets the exit code. */
bool option_parser_run(struct options *options, unsigned known, int argc, char **argv,
                       int *exit_code);

/* Say where help is. Returns the exit code. */
int option_parser_try_help(const struct command *command);

#endif
