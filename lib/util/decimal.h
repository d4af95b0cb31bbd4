/* SPDX-License-Identifier: MIT */
/* Writes numbers as decimal text, without the locale and the cost of printf(3). */
#ifndef RTI_DECIMAL_H
#define RTI_DECIMAL_H

#include <stdint.h>

#define RTI_DECIMAL_MAX 21 /* bytes of the longest text, its NUL included */

/* Write a number and a NUL at out, which must have room for RTI_DECIMAL_MAX bytes. Returns the
 * address of the NUL. */
char *rti_decimal(char *out, uint64_t number);

#endif
