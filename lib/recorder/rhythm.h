/* SPDX-License-Identifier: MIT */
/* The ticks of a recorder: multiples of an interval after the first, whatever a sample takes. Pure.
 *
 * A tick without a sample of its own was missed: it passed before the thread ran, or while it
 * sampled.
 * E.g.: every 10 ms, and a sample that begins at 20 ms takes 25 ms. Those of 30 and 40 ms are
 * missed, and the next begins at 50 ms. */
#ifndef RTI_RHYTHM_H
#define RTI_RHYTHM_H

#include <stdint.h>

/* Written by rhythm.c only. */
struct rti_rhythm {
	uint64_t start_ns, interval_ns;
	uint64_t ticks; /* that have passed, the first included */
	uint64_t missed;
};

/* The first tick is at start_ns. */
void rti_rhythm_init(struct rti_rhythm *rhythm, uint64_t start_ns, uint64_t interval_ns);

/* When the next tick is; UINT64_MAX: never. */
uint64_t rti_rhythm_next_ns(const struct rti_rhythm *rhythm);

/* A sample begins: it is that of the last tick before now. */
void rti_rhythm_begin_sample(struct rti_rhythm *rhythm, uint64_t now_ns);

/* It has ended. */
void rti_rhythm_end_sample(struct rti_rhythm *rhythm, uint64_t now_ns);

#endif
