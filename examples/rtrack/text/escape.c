/* SPDX-License-Identifier: MIT */
/* Writes command lines and paths, which may contain any byte, on one line and without loss. */
#include "escape.h"

#include <stdbool.h>

#include "utf8.h"

static void add(struct text *out, const char *data, size_t len, bool has_arguments)
{
	for (size_t at = 0; at < len;) {
		unsigned char c = (unsigned char)data[at];
		size_t size = c ? utf8_length(data + at) : 0;

		if (c == '\0' && has_arguments)
			text_add(out, " ");
		else if (c == '\\')
			text_add(out, "\\\\");
		else if (c == '\n')
			text_add(out, "\\n");
		else if (c < 0x20 || c == 0x7f || size == 0 || (c == ' ' && has_arguments))
			text_printf(out, "\\x%02x", c);
		else
			text_bytes(out, data + at, size);
		at += size ? size : 1;
	}
}

void escape_path(struct text *out, const char *data, size_t len)
{
	add(out, data, len, false);
}

void escape_arguments(struct text *out, const char *data, size_t len)
{
	add(out, data, len, true);
}
