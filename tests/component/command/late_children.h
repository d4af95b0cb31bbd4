/* SPDX-License-Identifier: MIT */
/* Children of the library that end late. */
#ifndef LATE_CHILDREN_H
#define LATE_CHILDREN_H

#include <stdbool.h>

/* Whether this process has no child any more after 10 s at most. E.g.: a supervisor that was killed
 * may take a moment to end. Reaps those that the library reaps late, as the start of a command
 * would. */
bool late_children_end(void);

#endif
