/* SPDX-License-Identifier: MIT */
/* Cells of a CSV row, as Python's csv module writes them with QUOTE_NONNUMERIC. */
#include "cell.h"

#include <inttypes.h>

void cell_names(struct text *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		text_printf(out, "%s\"%s\"", i ? "," : "", names[i]);
	cell_end_row(out);
}

/* Returns whether a value is to follow. */
static int begin(struct text *out, int known)
{
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		text_add(out, ",");
	if (!known)
		text_add(out, "\"\"");
	return known;
}

void cell_u64(struct text *out, int known, uint64_t value)
{
	if (begin(out, known))
		text_printf(out, "%" PRIu64, value);
}

void cell_i64(struct text *out, int known, int64_t value)
{
	if (begin(out, known))
		text_printf(out, "%" PRId64, value);
}

void cell_double(struct text *out, int known, double value)
{
	if (begin(out, known))
		text_double(out, value);
}

void cell_rounded(struct text *out, int known, double value, int decimals)
{
	if (begin(out, known))
		text_rounded(out, value, decimals);
}

void cell_unknown(struct text *out, int count)
{
	for (int i = 0; i < count; i++)
		begin(out, 0);
}

void cell_end_row(struct text *out)
{
	text_add(out, "\n");
}
