/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made from kernel counters that sometimes do. */
#include "collect/counter.h"

#define WRAP (UINT64_C(1) << 32)
#define CORRECTION_MAX 1000 /* clock ticks, 10 s */

uint64_t rti_counter_advance(struct rti_counter *counter, uint64_t now)
{
	uint64_t growth = now;
	/* Assumes that a 32-bit counter grows by less than a quarter of its range between two
	 * samples. So it was in the last quarter before it wrapped around, and is in the first. */
	bool has_wrapped = counter->last < WRAP && counter->last >= WRAP / 4 * 3 && now < WRAP / 4;

	if (now >= counter->last)
		growth = now - counter->last;
	else if (has_wrapped)
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
