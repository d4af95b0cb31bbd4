/* SPDX-License-Identifier: MIT */
/* How many columns of a terminal a text takes. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stddef.h>

/* Returns the columns of a printable text of len bytes. E.g.: 2 for one CJK character. */
size_t columns_of(const char *s, size_t len);

/* Returns how many bytes of a printable text fit into so many columns. No character is cut. */
size_t columns_fit(const char *s, size_t columns);

/* Returns from which byte on the end of a printable text fits into so many columns. */
size_t columns_fit_end(const char *s, size_t columns);

#endif
