/* SPDX-License-Identifier: MIT */
/* Cells of a CSV row, in the form that Python's csv module writes with QUOTE_NONNUMERIC. */
#ifndef CELL_H
#define CELL_H

#include <stdbool.h>

#include "text/text.h"

#define MIB 1048576.0

/* Write a row of column names. */
void cell_names(struct text *out, const char *const *names, size_t count);

/* Write the next cell of a row. An unknown value is "", as for Python's None, and never 0. */
void cell_u64(struct text *out, bool known, uint64_t value);
void cell_i64(struct text *out, bool known, int64_t value);
void cell_double(struct text *out, bool known, double value);
void cell_rounded(struct text *out, bool known, double value, int decimals);

/* Write untrusted text on one line. A quote is doubled. A backslash, a control character and a
 * byte that is not UTF-8 are escaped, so a reader can recover every byte. E.g.: a line feed becomes
 * \n, and byte 0xff becomes \xff. An empty text means unknown. */
void cell_string(struct text *out, const char *value);

/* The same without the comma before it. */
void text_quoted(struct text *out, const char *value);

/* Write text that is on one line already. Only quotes are doubled. */
void cell_line(struct text *out, const char *value);

/* Write the names of the domains of these RT_HAS_ bits, separated by spaces. */
void cell_domains(struct text *out, uint64_t bits);

/* Write so many cells of unknown value. */
void cell_unknown(struct text *out, int count);

/* Write the end of the line. */
void cell_end_row(struct text *out);

#endif
