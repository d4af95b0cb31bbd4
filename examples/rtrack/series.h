/* SPDX-License-Identifier: MIT */
/* A time series and the file that it is written to. */
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

/* Open the output that the options name, if any. Returns 0, or reports the error and returns it as
 * a negative errno value. */
int series_open(struct series *s, const struct options *options);

/* Replace the content of the file by the head, or append to it. */
void series_begin(struct series *s, const struct options *options, const struct subject *subject);

/* Write one row. The first failure is reported and ends the series. */
void series_write(struct series *s, const struct row *row);

void series_close(struct series *s);

/* Returns true if the rows of a process tree have system columns too. */
bool series_wants_system(const struct series *s);

#endif
