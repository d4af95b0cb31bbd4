/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made from kernel counters that sometimes do. */
#include "collect/counter.h"

#define WRAP (UINT64_C(1) << 32)
#define CORRECTION_MAX 1000 /* clock ticks, 10 s */

/* Returns true if a 32-bit counter has wrapped around. Assumes that it grows by less than a quarter
 * of its range between two samples. So before a wrap it was in the last quarter, and after it, in
 * the first. */
static bool is_wrap(uint64_t last, uint64_t now)
{
	return last < WRAP && last >= WRAP / 4 * 3 && now < WRAP / 4;
}

uint64_t rti_counter_advance(struct rti_counter *counter, uint64_t now)
{
	uint64_t growth = now;

	if (now >= counter->last)
		growth = now - counter->last;
	else if (is_wrap(counter->last, now))
		growth = now + WRAP - counter->last;
	counter->last = now;
	counter->total += growth;
	return growth;
}

bool rti_counter_hold(struct rti_counter *counter, uint64_t now)
{
	if (now >= counter->last) {
		counter->total += now - counter->last;
		counter->last = now;
		return false;
	}
	if (now >= counter->last / 2 || counter->last - now <= CORRECTION_MAX)
		return false;
	counter->last = now;
	return true;
}
