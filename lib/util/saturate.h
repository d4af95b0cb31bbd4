/* SPDX-License-Identifier: MIT */
/* Arithmetic that stops at the ends of its type instead of wrapping around. */
#ifndef RTI_SATURATE_H
#define RTI_SATURATE_H

#include <stdint.h>

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
