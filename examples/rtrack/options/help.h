/* SPDX-License-Identifier: MIT */
/* The help of a subcommand, made from the table of options. */
#ifndef HELP_H
#define HELP_H

#include "options.h"

/* Print the help of a subcommand. Its lines fit into 80 columns. */
void help_show(const struct command *command);

#endif
