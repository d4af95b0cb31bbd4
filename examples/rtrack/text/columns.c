/* SPDX-License-Identifier: MIT */
/* How many columns of a terminal a text takes. */
#include "columns.h"

#include <string.h>
#include <wchar.h>

#include "charset.h"

/* Returns the bytes of the first character of a text that is not empty, and sets its columns. A
 * byte that is no character of this locale counts as one column. A character that this C library
 * does not know may be wide. E.g.: a new emoji. */
static size_t next_character(const char *s, size_t len, size_t *columns)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t bytes;
	int width;

	*columns = 1;
	if (*s >= ' ' && *s <= '~')
		return 1;
	charset_use();
	bytes = mbrtowc(&c, s, len, &state);
	if (bytes == 0 || bytes > len)
		return 1;
	width = wcwidth(c);
	*columns = width >= 0 ? (size_t)width : 2;
	return bytes;
}

size_t columns_of(const char *s, size_t len)
{
	size_t columns = 0, width;

	for (size_t at = 0; at < len;) {
		at += next_character(s + at, len - at, &width);
		columns += width;
	}
	return columns;
}

size_t columns_fit(const char *s, size_t columns)
{
	size_t len = strlen(s), used = 0, at = 0, width;

	while (at < len) {
		size_t bytes = next_character(s + at, len - at, &width);

		if (used + width > columns)
			break;
		used += width;
		at += bytes;
	}
	return at;
}

size_t columns_fit_end(const char *s, size_t columns)
{
	size_t len = strlen(s), left = columns_of(s, len), at = 0, width;

	while (left > columns) {
		at += next_character(s + at, len - at, &width);
		left -= width;
	}
	return at;
}
