/* SPDX-License-Identifier: MIT */
/* Builds a text in memory of a fixed size. */
#include "util/text.h"

#include <string.h>

#include "util/decimal.h"

struct rti_text rti_text(char *out, size_t size)
{
	*out = '\0';
	return (struct rti_text){ .start = out, .at = out, .end = out + size };
}

/* Returns whether at is in a character of UTF-8, and not at its start. */
static bool is_in_character(const char *at)
{
	return (*at & 0xc0) == 0x80;
}

/* The memory is full, but for the NUL. */
static void cut(struct rti_text *text)
{
	static const char dots[] = "...";
	char *last =
	    text->at < text->start + sizeof(dots) ? text->start : text->at - (sizeof(dots) - 1);
	char *word = last;

	text->is_cut = true;
	while (word > text->start && *word != ' ')
		word--;
	while (word > text->start && strchr(" ,;:", word[-1]))
		word--;
	while (word == text->start && last > text->start && is_in_character(last))
		last--;
	text->at = word > text->start ? word : last;
	for (const char *dot = dots; *dot && text->at + 1 < text->end; dot++)
		*text->at++ = *dot;
	*text->at = '\0';
}

void rti_text_add(struct rti_text *text, const char *part)
{
	if (text->is_cut)
		return;
	for (; *part && text->at + 1 < text->end; part++)
		*text->at++ = *part;
	*text->at = '\0';
	if (*part)
		cut(text);
}

void rti_text_add_number(struct rti_text *text, uint64_t number)
{
	char digits[RTI_DECIMAL_MAX];

	rti_decimal(digits, number);
	rti_text_add(text, digits);
}
