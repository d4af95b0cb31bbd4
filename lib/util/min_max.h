/* SPDX-License-Identifier: MIT */
/* The lesser and the larger of two numbers. */
#ifndef RTI_MIN_MAX_H
#define RTI_MIN_MAX_H

#include <stdint.h>

static inline uint64_t rti_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t rti_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the number in the range that is nearest to value. If the range is empty, it is low. */
static inline uint64_t rti_clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return rti_max(rti_min(value, high), low);
}

#endif
