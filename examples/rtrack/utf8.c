/* SPDX-License-Identifier: MIT */
/* Checks for UTF-8: command lines and process names may contain any bytes. */
#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>

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

size_t utf8_length(const char *s)
{
	const unsigned char *bytes = (const unsigned char *)s;
	size_t len = length_by_first_byte(bytes[0]);
	uint32_t point;

	if (len < 2)
		return len;
	point = bytes[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((bytes[i] & 0xc0) != 0x80) /* true for the final NUL too */
			return 0;
		point = point << 6 | (bytes[i] & 0x3fu);
	}
	if (point < smallest[len] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return len;
}

/* Some terminals act on C1 controls (U+0080 to U+009F), as on C0 controls. */
static bool is_c1_control(const char *s, size_t len)
{
	return len == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0;
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
		else if (c < 0x20 || c == 0x7f || len == 0 || is_c1_control(s, len) ||
		         (len > 1 && !utf8))
			text_add(t, "?");
		else
			text_bytes(t, s, len);
		s += len ? len : 1;
	}
}
