/* SPDX-License-Identifier: MIT */
/* Arithmetic: the lesser and the larger of two numbers, and sums that do not wrap around. All are
 * uint64_t. Macros, so that a debugger that steps through a caller stays in it. Each operand is
 * evaluated once. */
#ifndef RTI_ARITH_H
#define RTI_ARITH_H

#include <stdint.h>

/* The value of op(x, y), a macro. x and y have other names each time, since operands nest. */
#define RTI_ONCE(op, a, b) RTI_ONCE_OF(op, a, b, __COUNTER__)
#define RTI_ONCE_OF(op, a, b, number) RTI_ONCE_NAMED(op, a, b, number)
#define RTI_ONCE_NAMED(op, a, b, number)                                                           \
	({                                                                                         \
		const uint64_t x##number = (a), y##number = (b);                                   \
		op(x##number, y##number);                                                          \
	})

#define RTI_MIN(x, y) ((x) < (y) ? (x) : (y))
#define RTI_MAX(x, y) ((x) > (y) ? (x) : (y))
#define RTI_ADD(x, y) ((x) > UINT64_MAX - (y) ? UINT64_MAX : (x) + (y))
#define RTI_MULTIPLY(x, y) ((y) != 0 && (x) > UINT64_MAX / (y) ? UINT64_MAX : (x) * (y))
#define RTI_SUBTRACT(x, y) ((x) > (y) ? (x) - (y) : 0)

#define rti_min(a, b) RTI_ONCE(RTI_MIN, a, b)
#define rti_max(a, b) RTI_ONCE(RTI_MAX, a, b)

/* The number in the range that is nearest to value. If the range is empty, this is low. */
#define rti_clamp(value, low, high) rti_max(rti_min(value, high), low)

/* a + b, or UINT64_MAX if the sum does not fit. If UINT64_MAX stands for unknown, it stays
 * unknown. */
#define rti_add_saturated(a, b) RTI_ONCE(RTI_ADD, a, b)

/* a * b, or UINT64_MAX if the product does not fit. */
#define rti_multiply_saturated(a, b) RTI_ONCE(RTI_MULTIPLY, a, b)

/* a - b, or 0 if b is larger. */
#define rti_subtract_saturated(a, b) RTI_ONCE(RTI_SUBTRACT, a, b)

#endif
