/* SPDX-License-Identifier: MIT */
/* Where the rows of a time series go: a file, a pipe or standard output, always in whole rows. */
#ifndef SERIES_H
#define SERIES_H

#include <sys/types.h>

#include "format.h"
#include "options.h"

struct series {
	int fd; /* -1: no series, or it ended early */
	const char *name;
	const struct format *format;
	struct text text; /* the row that is being written */
	int is_ours;      /* a regular file that nobody else writes to: a torn row can be taken back */
	int failed;       /* the rows could not be written */
	uint64_t rows;
};

/* Open what the options ask for and write the head. -1 when it cannot be opened; the reason has been told. */
int series_open(struct series *s, const struct options *options, const struct subject *subject);

/* Write one row. The first failure is told and ends the series. */
void series_write(struct series *s, const struct row *row);

void series_close(struct series *s);

/* Whether the rows of a process tree need the machine's figures too. */
int series_wants_system(const struct series *s);

/* Open a file for writing; "-" is standard output. The descriptor, or -1; the reason has been told. */
int open_output(const char *name, int append);

/* Write all of it. 0 or -errno; *written tells how far it came. */
int write_all(int fd, const char *data, size_t len, size_t *written);

#endif
