/* SPDX-License-Identifier: MIT */
/* RTRACK_OPTIONS: defaults of run, attach and system. */
#ifndef OPTIONS_ENVIRONMENT_H
#define OPTIONS_ENVIRONMENT_H

#include <stdbool.h>

#include "options.h"

/* Parse RTRACK_OPTIONS. It may hold options of other subcommands, which are ignored. Errors name
 * it. Returns true to go on, or false and the exit code. */
bool options_parse_environment(struct options *options, int *exit_code);

#endif
