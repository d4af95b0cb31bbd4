/* SPDX-License-Identifier: MIT */
/* Counters that never fall, made from kernel counters that sometimes do. */
#ifndef RTI_COUNTER_H
#define RTI_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Owned by the state of one collector. Zeroed memory is a valid start.
 * Invariant: total never falls, and last is the kernel's value that total stands for. */
struct rti_counter {
	uint64_t total; /* the first value counts in full */
	uint64_t last;
};

/* What a counter of a device may have done if its value is below the last one. */
#define RTI_FALL_RESTART 1u /* begun again at 0. E.g.: a disk in the place of another */
#define RTI_FALL_WRAP 2u    /* passed 2^32: the kernel's field has 32 bits */

/* Move on to the current value of a counter of a device. It has passed 2^32 if it may and both
 * values make that plausible. A fall by up to a hundredth is a correction by the driver: the total
 * stays as it is until the value has caught up. After a larger one the value is the new baseline,
 * and counts in full if the counter may have begun again at 0.
 *
 * Returns true after a fall, until the value has caught up: the total is then a lower bound.
 * Returns false otherwise, and if the counter has passed 2^32. falls: RTI_FALL_ bits. */
bool rti_counter_advance(struct rti_counter *counter, uint64_t now, unsigned falls);

/* Move on to the current value of a counter that the kernel sometimes corrects downwards (iowait,
 * idle, steal), by correction_max at most. The total stays as it is until the value has caught up.
 *
 * If the value falls by more, it becomes the new baseline. It adds nothing, since it is unknown
 * where the counter started again. E.g.: the idle time of a CPU falls by an hour as it goes
 * offline. Returns true in that case: the total is then a lower bound. Returns false otherwise. */
bool rti_counter_hold(struct rti_counter *counter, uint64_t now, uint64_t correction_max);

/* The same of a sum of counts of which some have 32 bits. E.g.: that of all interrupts falls by
 * 2^32 when one of them wraps around. */
bool rti_counter_hold_sum(struct rti_counter *counter, uint64_t now);

#endif
