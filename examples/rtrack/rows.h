/* SPDX-License-Identifier: MIT */
/* The rows of a series, made from samples. */
#ifndef ROWS_H
#define ROWS_H

#include "follow.h"
#include "series.h"

/* Write what the last sample gives: one row. Either tracker may be NULL. */
void rows_write(struct series *series, struct follow *tree, const struct follow *system);

/* Write the names of the columns, in view of a first sample. */
void rows_write_head(struct series *series, const struct follow *tree, const struct follow *system);

#endif
