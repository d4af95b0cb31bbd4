/* SPDX-License-Identifier: MIT */
/* When the reader of a trace is woken.
 *
 * A wake-up per event would cost more than the events. While events flow, the reader comes every 50
 * ms, by a timer, or when a quarter of the ring is in use. Once it has found nothing for that long,
 * the next event wakes it. */
#ifndef RTI_PACE_H
#define RTI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_PACE_NEVER UINT64_MAX

/* All 0 at first. Written by pace.c only. */
struct rti_pace {
	uint64_t flows_until_ns; /* events are expected until then */
	bool is_asleep;          /* the next event wakes the reader */
};

struct rti_pace_plan {
	bool wakes_at_once; /* the next event wakes the reader; else a quarter of the ring does */
	uint64_t timer_ns;  /* the reader comes then, on CLOCK_MONOTONIC, or RTI_PACE_NEVER */
};

/* The reader has taken all events that waited. found_some: there were some since the last call. */
struct rti_pace_plan rti_pace_plan(struct rti_pace *pace, uint64_t now_ns, bool found_some);

#endif
