/* SPDX-License-Identifier: MIT */
/* Writes numbers as decimal text. */
#include "util/decimal.h"

char *rti_decimal(char *out, uint64_t number)
{
	char digits[RTI_DECIMAL_MAX];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*out++ = digits[--count];
	*out = '\0';
	return out;
}
