/* SPDX-License-Identifier: MIT */
/* Builds a text in memory of a fixed size. */
#include "util/text.h"

#include "util/decimal.h"

struct rti_text rti_text(char *out, size_t size)
{
	*out = '\0';
	return (struct rti_text){ out, out + size };
}

void rti_text_add(struct rti_text *text, const char *part)
{
	while (*part && text->at + 1 < text->end)
		*text->at++ = *part++;
	*text->at = '\0';
}

void rti_text_add_number(struct rti_text *text, uint64_t number)
{
	char digits[RTI_DECIMAL_MAX];

	rti_decimal(digits, number);
	rti_text_add(text, digits);
}
