/* SPDX-License-Identifier: MIT */
/* Messages about options that are wrong: what is valid, and what may have been meant. */
#ifndef OPTION_ERRORS_H
#define OPTION_ERRORS_H

#include "option_table.h"

/* Report what getopt_long() has refused among the options of these subcommands (FOR_ bits): its
 * result ('?', or ':' for a missing argument), optopt, and the word with the option. */
void option_warn_refused(unsigned commands, int result, int key, const char *word);

/* Report an argument. err is -ERANGE if it has the right form, but is too small or too large. */
void option_warn_argument(const struct option_row *row, const char *argument, int err);

#endif
