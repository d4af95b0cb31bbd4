/* SPDX-License-Identifier: MIT */
/* Arithmetic that stops at the ends of its type instead of wrapping around. */
#ifndef RTI_SATURATE_H
#define RTI_SATURATE_H

#include <stdint.h>

/* a + b, or UINT64_MAX if that is past it. UINT64_MAX may stand for unknown: it stays what it
 * is. */
static inline uint64_t rti_add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a - b, or 0 if b is larger. */
static inline uint64_t rti_subtract_saturated(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
