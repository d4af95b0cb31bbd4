/* SPDX-License-Identifier: MIT */
/* The values of options: from text to struct options. */
#ifndef OPTION_VALUES_H
#define OPTION_VALUES_H

#include <stdbool.h>

#include "options.h"

/* Set an option that has an argument. Returns 0, -EINVAL if the argument is invalid, or -ERANGE if
 * it is too small or too large. */
int option_set_value(struct options *options, int key, const char *argument);

/* Set an option that has none. */
void option_set_flag(struct options *options, int key);

/* Returns true for a word that says when: auto, always or never. */
bool option_is_when(const char *word);

#endif
