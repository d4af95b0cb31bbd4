/* SPDX-License-Identifier: MIT */
/* Time that never steps, and deadlines on it that do not drift. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NEVER INT64_MAX

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t clock_now(void);

/* CPU time of the calling thread in nanoseconds. */
int64_t clock_cpu(void);

/* When rows are due. Deadlines lie at whole intervals from the start; missed ones are left out,
 * so that a row after a pause covers all of it and no burst follows. */
struct ticker {
	int64_t start, interval, next;
	int64_t end;        /* of the series; NEVER */
	uint64_t rows_left; /* UINT64_MAX: no end */
};

struct options;

void ticker_init(struct ticker *t, const struct options *options, int64_t start);

/* A row was taken at this time. Whether the series goes on. */
bool ticker_advance(struct ticker *t, int64_t now);

#endif
