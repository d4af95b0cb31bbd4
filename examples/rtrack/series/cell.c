/* SPDX-License-Identifier: MIT */
/* Cells of a CSV row, in the form that Python's csv module writes with QUOTE_NONNUMERIC. */
#include "cell.h"

#include <inttypes.h>
#include <stdbool.h>

#include "follow/figures.h"
#include "text/utf8.h"

void cell_names(struct text *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_printf(out, "%s\"%s\"", i ? "," : "", names[i]);
	cell_end_row(out);
}

/* Begin a cell. Returns true if the caller must add a value. */
static bool begin(struct text *out, bool known)
{
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		text_add(out, ",");
	if (!known)
		text_add(out, "\"\"");
	return known;
}

void cell_u64(struct text *out, bool known, uint64_t value)
{
	if (begin(out, known))
		text_printf(out, "%" PRIu64, value);
}

void cell_i64(struct text *out, bool known, int64_t value)
{
	if (begin(out, known))
		text_printf(out, "%" PRId64, value);
}

void cell_double(struct text *out, bool known, double value)
{
	if (begin(out, known))
		text_double(out, value);
}

void cell_rounded(struct text *out, bool known, double value, int decimals)
{
	if (begin(out, known))
		text_rounded(out, value, decimals);
}

static void add_escaped(struct text *out, const char *s)
{
	while (*s) {
		size_t len = utf8_length(s);
		unsigned char c = (unsigned char)*s;

		if (c == '"')
			text_add(out, "\"\"");
		else if (c == '\\')
			text_add(out, "\\\\");
		else if (c == '\n')
			text_add(out, "\\n");
		else if (c < 0x20 || c == 0x7f || len == 0)
			text_printf(out, "\\x%02x", c);
		else
			text_bytes(out, s, len);
		s += len ? len : 1;
	}
}

void text_quoted(struct text *out, const char *value)
{
	text_add(out, "\"");
	add_escaped(out, value);
	text_add(out, "\"");
}

void cell_string(struct text *out, const char *value)
{
	begin(out, true);
	text_quoted(out, value);
}

void cell_line(struct text *out, const char *value)
{
	begin(out, true);
	text_add(out, "\"");
	for (; *value; value++)
		text_bytes(out, *value == '"' ? "\"\"" : value, *value == '"' ? 2 : 1);
	text_add(out, "\"");
}

void cell_domains(struct text *out, uint64_t bits)
{
	begin(out, true);
	text_add(out, "\"");
	text_bits(out, RT_CONSTANTS_HAS, bits, " ");
	text_add(out, "\"");
}

void cell_unknown(struct text *out, int count)
{
	for (int i = 0; i < count; i++)
		begin(out, false);
}

void cell_end_row(struct text *out)
{
	text_add(out, "\n");
}
