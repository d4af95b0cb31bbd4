/* SPDX-License-Identifier: MIT */
/* A time series on its way to where it was asked for. */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>

#include "format.h"
#include "options.h"
#include "output.h"

struct series {
	struct output out;
	const struct format *format;
};

/* Open what the options ask for and write the head. -1 when it cannot be opened; the reason has
 * been told. */
int series_open(struct series *s, const struct options *options, const struct subject *subject);

/* Write one row. The first failure is told and ends the series. */
void series_write(struct series *s, const struct row *row);

void series_close(struct series *s);

/* Whether the rows of a process tree need the machine's figures too. */
bool series_wants_system(const struct series *s);

#endif
