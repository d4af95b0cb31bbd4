/* SPDX-License-Identifier: MIT */
/* The rows of a series, made from samples. */
#ifndef ROWS_H
#define ROWS_H

#include "follow/follow.h"
#include "series.h"

/* Write what the last sample gives: one row, or one for each process. Either
 * tracker may be NULL. */
void rows_write(struct series *series, struct follow *tree, const struct follow *system);

/* Note what processes have used before the first row. E.g.: before rtrack attached. */
void rows_set_base(const struct series *series, struct follow *tree);

/* Say at the end which processes have no row. */
void rows_report(const struct series *series, const struct follow *tree);

/* Write the names of the columns, in view of a first sample. */
void rows_write_head(struct series *series, const struct follow *tree, const struct follow *system);

#endif
