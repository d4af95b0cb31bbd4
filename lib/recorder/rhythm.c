/* SPDX-License-Identifier: MIT */
/* The ticks of a recorder. Pure. */
#include "recorder/rhythm.h"

#include "util/arith.h"

void rti_rhythm_init(struct rti_rhythm *rhythm, uint64_t start_ns, uint64_t interval_ns)
{
	*rhythm = (struct rti_rhythm){ .start_ns = start_ns, .interval_ns = interval_ns };
}

uint64_t rti_rhythm_next_ns(const struct rti_rhythm *rhythm)
{
	uint64_t after_ns = rti_multiply_saturated(rhythm->ticks, rhythm->interval_ns);

	return rti_add_saturated(rhythm->start_ns, after_ns);
}

/* Count all ticks up to now. Returns how many have passed since the last time. */
static uint64_t pass(struct rti_rhythm *rhythm, uint64_t now_ns)
{
	uint64_t since_ns = rti_subtract_saturated(now_ns, rhythm->start_ns),
		 before = rhythm->ticks;

	rhythm->ticks = rti_max(since_ns / rhythm->interval_ns + 1, before);
	return rhythm->ticks - before;
}

void rti_rhythm_begin_sample(struct rti_rhythm *rhythm, uint64_t now_ns)
{
	rhythm->missed += rti_subtract_saturated(pass(rhythm, now_ns), 1);
}

void rti_rhythm_end_sample(struct rti_rhythm *rhythm, uint64_t now_ns)
{
	rhythm->missed += pass(rhythm, now_ns);
}
