/* SPDX-License-Identifier: MIT */
/* The history of one figure over a run of any length, in a fixed number of buckets. Each bucket
 * keeps its largest value. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/text.h"

enum { HISTORY_BUCKETS = 48 };

struct history {
	double largest[HISTORY_BUCKETS];
	unsigned used;   /* buckets in use */
	uint64_t span;   /* values per bucket */
	uint64_t filled; /* values in the last bucket so far */
	double peak;
};

void history_add(struct history *h, double value);

/* Draw one character per bucket, or room characters if there are more buckets. The scale goes from
 * 0 to the peak, or to full if that is more. */
void history_draw(const struct history *h, double full, size_t room, struct text *out, bool utf8);

#endif
