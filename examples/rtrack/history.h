/* SPDX-License-Identifier: MIT */
/* The course of one figure over a run of any length, in a fixed number of buckets that keep the
 * peaks. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

enum { HISTORY_BUCKETS = 48 };

struct history {
	double largest[HISTORY_BUCKETS];
	unsigned used;   /* buckets */
	uint64_t span;   /* values that go into one bucket */
	uint64_t filled; /* values in the last bucket so far */
	double peak;
};

void history_add(struct history *h, double value);

/* One character for each bucket, from nothing to the peak, or to full where the peak is smaller. */
void history_draw(const struct history *h, double full, struct text *out, bool utf8);

#endif
