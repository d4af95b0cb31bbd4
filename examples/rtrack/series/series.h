/* SPDX-License-Identifier: MIT */
/* A time series and the file that it is written to. */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "follow/clock.h"
#include "format.h"
#include "options/options.h"
#include "output/output.h"
#include "series_columns.h"

struct series {
	struct output out;
	struct output meta; /* --meta */
	const struct format *format;
	struct columns columns;
	bool has_begun;
	bool has_head;     /* the names of the columns are written, or not needed */
	bool has_children; /* one of the columns */
	bool is_per_process;
	bool has_commands;  /* one of the columns is a command line */
	bool is_quiet;      /* no notes at the end */
	bool has_own_names; /* --fields */
	int64_t interval_ns;
	uint64_t flushed_ns; /* when rows were last written, by the clock of their samples */
	uint64_t rows, marked_rows;
};

/* Check the options of the series. Returns 0, or reports the error and returns EXIT_USAGE. */
int series_check(const struct options *options);

/* Open the outputs that the options name, if any, and choose the columns. Returns 0, or reports the
 * error and returns it as a negative errno value. */
int series_open(struct series *s, const struct options *options);

/* Begin the series, now that there is something to follow. Writes the file of --meta. */
void series_begin(struct series *s, const struct subject *subject);

/* Write the names of the columns, in view of a first sample. Without this call they are written
 * with the first row. */
void series_write_head(struct series *s, const struct row *first);

/* Add one row, which is written with the last row of this sample. */
void series_add(struct series *s, const struct row *row);

/* Write the rows that were added. now_ns is the monotonic time of the sample. */
void series_end_sample(struct series *s, uint64_t now_ns);

/* Write one row. Rows that follow each other in less than 10 ms are written some at a time, at
 * least every 10 ms as long as rows come. The first failure is reported and ends the series. */
void series_write(struct series *s, const struct row *row);

/* Write the rows that are not written yet. */
void series_flush(struct series *s);

/* Write the rest, close the output and say how many samples were missed, if it is a notable
 * share. */
void series_close(struct series *s, const struct ticker *ticker);

/* Returns the RT_HAS_ bits that the columns need of a tracker of this RT_KIND_. */
uint64_t series_domains(const struct series *s, uint32_t kind);

/* Returns true if a row has the number of live descendants. */
bool series_has_children(const struct series *s);

/* Returns true if the rows of a process tree have system columns too. */
bool series_wants_system(const struct series *s);

#endif
