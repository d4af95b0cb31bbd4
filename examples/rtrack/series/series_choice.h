/* SPDX-License-Identifier: MIT */
/* Which columns a series has, and in which order. */
#ifndef SERIES_CHOICE_H
#define SERIES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "series_columns.h"
#include "text/suggest.h"

/* Find the first name of a list, separated by commas, that is no column of this kind. Sets *len to
 * its length, and returns it, or NULL if all are columns. */
const char *columns_find_unknown(const char *names, uint32_t kind, size_t *len);

/* Get the columns with these names, in this order. Returns 0, -EINVAL if a name is unknown, or
 * -ENOMEM. */
int columns_choose(struct columns *c, const char *names, uint32_t kind);

/* Get the columns that the CSV has by default. */
int columns_choose_csv(struct columns *c, uint32_t kind);

/* Get the columns that JSON Lines have by default. */
int columns_choose_usual(struct columns *c, uint32_t kind);

/* Leave out the optional columns that the first row of a series does not know, or all of them if it
 * is NULL. */
void columns_leave_out(struct columns *c, const struct row *first);

/* Get the name of a column that an unknown name was perhaps meant to be; an empty one if there is
 * none. */
void columns_find_closest(const char *name, size_t len, uint32_t kind, struct suggestion *out);

#endif
