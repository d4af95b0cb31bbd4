/* SPDX-License-Identifier: MIT */
/* Format jsonl: an object with the columns of series_columns.h for each row. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "format.h"
#include "series_choice.h"
#include "series_columns.h"
#include "text/json.h"

/* Readers of JSON may keep numbers as doubles, which cannot represent every larger integer. E.g.:
 * jq 1.6 reads 9007199254740993 as ...992. */
#define LARGEST_INTEGER (UINT64_C(1) << 53)

/* Add a whole number, or a string with it if it is too large for a number of JSON. */
static void add_unsigned(struct text *out, const char *key, uint64_t value)
{
	char digits[24];

	if (value <= LARGEST_INTEGER) {
		json_u64(out, key, value);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	json_string(out, key, digits);
}

static void add_time(struct text *out, const char *key, uint64_t ns, bool is_iso)
{
	char time[ISO_TIME_BYTES];

	if (!is_iso) {
		json_exact_seconds(out, key, ns);
		return;
	}
	format_iso_time(time, ns);
	json_string(out, key, time);
}

static void add_marked(struct text *out, const char *key, const struct columns *columns,
                       const struct row *row, enum value_type mark)
{
	json_begin(out, key, '[');
	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = &columns->at[i];

		if (column_is_marked(column, row, mark))
			json_string(out, NULL, column->name);
	}
	json_end(out, ']');
}

static void add_column(struct text *out, const struct columns *columns, const struct column *column,
                       const struct row *row)
{
	const struct value value = column_value(column, row);

	switch (value.type) {
	case VALUE_UNKNOWN:
		json_null(out, column->name);
		break;
	case VALUE_UNSIGNED:
		add_unsigned(out, column->name, value.whole);
		break;
	case VALUE_SIGNED:
		json_i64(out, column->name, value.number);
		break;
	case VALUE_REAL:
		json_double(out, column->name, value.real);
		break;
	case VALUE_SECONDS:
		json_exact_seconds(out, column->name, value.whole);
		break;
	case VALUE_TIME:
		add_time(out, column->name, value.whole, columns->has_iso_times);
		break;
	case VALUE_WORD:
	case VALUE_TEXT:
		json_string(out, column->name, value.word);
		break;
	case VALUE_REASONS:
		json_bits(out, RT_CONSTANTS_REASON, column->name, value.whole);
		break;
	case VALUE_PARTIAL:
	case VALUE_ESTIMATED:
		add_marked(out, column->name, columns, row, value.type);
		break;
	}
}

static void jsonl_row(struct text *out, const struct columns *columns, const struct row *row)
{
	json_begin(out, NULL, '{');
	for (size_t i = 0; i < columns->count; i++)
		add_column(out, columns, &columns->at[i], row);
	json_end(out, '}');
	text_add(out, "\n");
}

const struct format format_jsonl = {
	.name = "jsonl",
	.suffix = ".jsonl",
	.choose = columns_choose_usual,
	.row = jsonl_row,
};
