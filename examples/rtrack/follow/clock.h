/* SPDX-License-Identifier: MIT */
/* Monotonic time, and deadlines that do not drift. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NEVER INT64_MAX

/* Returns CLOCK_MONOTONIC in nanoseconds. */
int64_t clock_now(void);

/* Returns the CPU time of the calling thread in nanoseconds. */
int64_t clock_cpu(void);

/* When rows are due. Deadlines lie at whole intervals from the start. Missed deadlines are
 * skipped: one row covers the whole pause, and no burst of rows follows it.
 * E.g.: interval 1 s, no row between 3 s and 7.4 s: one row at 7.4 s, the next at 8 s. */
struct ticker {
	int64_t start, interval, next;
	int64_t end;          /* of the series, or NEVER */
	uint64_t rows_left;   /* UINT64_MAX: no limit */
	uint64_t met, missed; /* deadlines so far: those with a row, and those that were skipped */
};

struct options;

void ticker_init(struct ticker *t, const struct options *options, int64_t start);

/* Note that a row was written at this time. Returns true if the series continues. */
bool ticker_advance(struct ticker *t, int64_t now);

#endif
