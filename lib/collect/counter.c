/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made from kernel counters that sometimes do. */
#include "collect/counter.h"

#define WRAP (UINT64_C(1) << 32)

bool rti_counter_hold(struct rti_counter *counter, uint64_t now, uint64_t correction_max)
{
	if (now >= counter->last) {
		counter->total += now - counter->last;
		counter->last = now;
		return false;
	}
	if (counter->last - now <= correction_max)
		return false;
	counter->last = now;
	return true;
}

bool rti_counter_advance(struct rti_counter *counter, uint64_t now, unsigned falls)
{
	/* Assumes that a 32-bit counter grows by less than a quarter of its range between two
	 * samples. So it was in the last quarter before it wrapped around, and is in the first. */
	bool has_wrapped = falls & RTI_FALL_WRAP && counter->last < WRAP &&
	                   counter->last >= WRAP / 4 * 3 && now < WRAP / 4;
	bool has_fallen = now < counter->last;

	if (has_wrapped) {
		counter->total += now + WRAP - counter->last;
		counter->last = now;
		return false;
	}
	if (rti_counter_hold(counter, now, counter->last / 100) && falls & RTI_FALL_RESTART)
		counter->total += now;
	return has_fallen;
}

bool rti_counter_hold_sum(struct rti_counter *counter, uint64_t now)
{
	/* As above, a part grows by less than a quarter of its range. */
	bool has_wrapped = now < counter->last && now + WRAP >= counter->last &&
	                   now + WRAP - counter->last < WRAP / 4;

	if (!has_wrapped)
		return rti_counter_hold(counter, now, 0);
	counter->total += now + WRAP - counter->last;
	counter->last = now;
	return false;
}
