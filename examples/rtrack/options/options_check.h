/* SPDX-License-Identifier: MIT */
/* What the options say together. */
#ifndef OPTIONS_CHECK_H
#define OPTIONS_CHECK_H

#include <stdbool.h>

#include "options.h"

/* Choose what follows from several options: the form of the summary. Returns true, or reports what
 * cannot be done and returns false. */
bool options_complete(struct options *options);

/* Returns the USAGE_ bit of what a subcommand measures. */
unsigned options_usage_kind(const struct command *command);

#endif
