/* SPDX-License-Identifier: MIT */
/* Checks for UTF-8: command lines and process names may contain any bytes. */
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The smallest code point that needs so many bytes. A longer form of a smaller code point is not
 * valid UTF-8. */
static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };

static size_t length_by_first_byte(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	return 0;
}

/* Returns the length like utf8_length(), and sets the code point unless it is 0. */
static size_t decode(const char *s, uint32_t *code_point)
{
	const unsigned char *bytes = (const unsigned char *)s;
	size_t len = length_by_first_byte(bytes[0]);
	uint32_t point = bytes[0];

	if (len > 1)
		point &= 0xffu >> (len + 1);
	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xc0) != 0x80) /* true for the final NUL too */
			return 0;
		point = point << 6 | (bytes[i] & 0x3fu);
	}
	if (len > 1 &&
	    (point < smallest[len] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)))
		return 0;
	*code_point = point;
	return len;
}

size_t utf8_length(const char *s)
{
	uint32_t point;

	return decode(s, &point);
}

/* Some terminals act on C1 controls (U+0080 to U+009F), as on C0 controls. */
static bool is_c1_control(const char *s, size_t len)
{
	return len == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0;
}

/* They change the order or the line of what follows them: U+061C, U+200E, U+200F, U+2028 to U+202E,
 * U+2066 to U+2069. E.g.: a name could seem to be that of another process. */
static bool is_layout_control(const char *s, size_t len)
{
	static const struct {
		const char *first, *last;
	} ranges[] = {
		{ "\xd8\x9c", "\xd8\x9c" },
		{ "\xe2\x80\x8e", "\xe2\x80\x8f" },
		{ "\xe2\x80\xa8", "\xe2\x80\xae" },
		{ "\xe2\x81\xa6", "\xe2\x81\xa9" },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		if (strncmp(s, ranges[i].first, len) >= 0 && strncmp(s, ranges[i].last, len) <= 0)
			return true;
	}
	return false;
}

static bool is_control(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;

	return c < 0x20 || c == 0x7f || is_c1_control(s, len) ||
	       (len > 1 && is_layout_control(s, len));
}

void utf8_add_printable(struct text *t, const char *s, bool utf8)
{
	while (*s) {
		size_t len = utf8_length(s);
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			text_add(t, "\\n");
		else if (c == '\t')
			text_add(t, "\\t");
		else if (len == 0 || is_control(s, len) || (len > 1 && !utf8))
			text_add(t, "?");
		else
			text_bytes(t, s, len);
		s += len ? len : 1;
	}
}
