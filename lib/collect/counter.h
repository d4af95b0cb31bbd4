/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made of counters of the kernel that sometimes do.
 *
 * Owner: the state of one collector. Zeroed memory is a valid start. */
#ifndef RTI_COUNTER_H
#define RTI_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct rti_counter {
	uint64_t total; /* never falls; the first value counts in full */
	uint64_t last;  /* the kernel's value that total stands for */
};

/* Move on to the kernel's value of now; returns by how much the total grew. A value below the
 * last one is a wrap of 32 bits where both make that plausible. Otherwise the item began again
 * at 0, and all of the value is new. */
uint64_t rti_counter_advance(struct rti_counter *counter, uint64_t now);

/* The same for times that the kernel corrects downwards now and then (iowait, idle, steal): the
 * total stands still until the value has caught up. A fall too deep for a correction starts a
 * new baseline, and adds nothing since it is not known from where it began. Returns 1 in that
 * case, when the total has become a lower bound, else 0. */
bool rti_counter_hold(struct rti_counter *counter, uint64_t now);

#endif
