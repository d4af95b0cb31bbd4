/* SPDX-License-Identifier: MIT */
/* Arithmetic: the lesser and the larger of two numbers, and sums that do not wrap around. */
#ifndef RTI_ARITH_H
#define RTI_ARITH_H

#include <stdint.h>

static inline uint64_t rti_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t rti_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the number in the range that is nearest to value. If the range is empty, returns low. */
static inline uint64_t rti_clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return rti_max(rti_min(value, high), low);
}

/* Returns a + b, or UINT64_MAX if the sum does not fit. If UINT64_MAX stands for unknown, it stays
 * unknown. */
static inline uint64_t rti_add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns a * b, or UINT64_MAX if the product does not fit. */
static inline uint64_t rti_multiply_saturated(uint64_t a, uint64_t b)
{
	return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Returns a - b, or 0 if b is larger. */
static inline uint64_t rti_subtract_saturated(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
