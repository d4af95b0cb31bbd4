/* SPDX-License-Identifier: MIT */
/* Cells of a CSV row, as Python's csv module writes them with QUOTE_NONNUMERIC. */
#ifndef CELL_H
#define CELL_H

#include <stdbool.h>

#include "text.h"

#define MIB 1048576.0

/* A row of column names. */
void cell_names(struct text *out, const char *const *names, size_t count);

/* The next cell of a row. One that is not known is "", as Python's None, and never 0. */
void cell_u64(struct text *out, bool known, uint64_t value);
void cell_i64(struct text *out, bool known, int64_t value);
void cell_double(struct text *out, bool known, double value);
void cell_rounded(struct text *out, bool known, double value, int decimals);

/* Text from strangers, on one line: a quote is doubled, and a backslash and what is no printable
 * character are escaped, so that every byte can be told. The empty text is an unknown one. */
void cell_string(struct text *out, const char *value);

/* Names of the domains, with a space between two. */
void cell_domains(struct text *out, uint64_t bits);

/* Cells that cannot be known. */
void cell_unknown(struct text *out, int count);

/* The line end. */
void cell_end_row(struct text *out);

#endif
