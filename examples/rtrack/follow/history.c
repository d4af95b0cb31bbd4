/* SPDX-License-Identifier: MIT */
/* The history of one figure over a run of any length, in a fixed number of buckets. Each bucket
 * keeps its largest value. */
#include "history.h"

#include <stdbool.h>

enum { LEVELS = 8 };

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Join the buckets in pairs when all of them are full. */
static void halve(struct history *h)
{
	for (unsigned i = 0; i < HISTORY_BUCKETS / 2; i++)
		h->largest[i] = larger(h->largest[2 * i], h->largest[2 * i + 1]);
	h->used = HISTORY_BUCKETS / 2;
	h->span *= 2;
}

void history_add(struct history *h, double value)
{
	if (h->span == 0)
		*h = (struct history){ .span = 1, .filled = 1 };
	if (h->filled == h->span || h->used == 0) {
		if (h->used == HISTORY_BUCKETS)
			halve(h);
		h->largest[h->used++] = value;
		h->filled = 1;
	} else {
		h->largest[h->used - 1] = larger(h->largest[h->used - 1], value);
		h->filled++;
	}
	h->peak = larger(h->peak, value);
}

/* Returns the largest value of the buckets that share a column. */
static double largest_of_column(const struct history *h, unsigned column, unsigned columns)
{
	unsigned from = h->used * column / columns, to = h->used * (column + 1) / columns;
	double largest = h->largest[from];

	for (unsigned i = from + 1; i < to; i++)
		largest = larger(largest, h->largest[i]);
	return largest;
}

void history_draw(const struct history *h, double full, size_t room, struct text *out, bool utf8)
{
	static const char *const blocks[LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[LEVELS] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	const double top = larger(h->peak, full);
	unsigned columns = room < h->used ? (unsigned)room : h->used;

	for (unsigned i = 0; i < columns; i++) {
		double value = largest_of_column(h, i, columns);
		int level = top > 0 ? (int)(value / top * (LEVELS - 1) + 0.5) : 0;

		text_add(out, utf8 ? blocks[level] : plain[level]);
	}
}
