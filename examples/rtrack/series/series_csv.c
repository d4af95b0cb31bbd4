/* SPDX-License-Identifier: MIT */
/* Format csv: the columns of series_columns.h. A cell is a number or a word, and is not quoted; a
 * text is. The cell of an unknown figure is empty.
 *
 * A cell has no room for a mark: with "~" before an estimate, pandas reads the whole column as
 * text. So two columns name those of the row that are lower bounds or estimates. */
#include <stdbool.h>

#include "cell.h"
#include "format.h"
#include "series_choice.h"
#include "series_columns.h"

static void csv_head(struct text *out, const struct columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		text_bytes(out, ",", i > 0);
		text_add(out, columns->at[i].name);
	}
	text_add(out, "\n");
}

/* Add the names of the columns with this mark, separated by spaces. */
static void add_marked(struct text *out, const struct columns *columns, const struct row *row,
                       enum value_type mark)
{
	const char *gap = "";

	for (size_t i = 0; i < columns->count; i++) {
		const struct column *column = &columns->at[i];

		if (!column_is_marked(column, row, mark))
			continue;
		text_add(out, gap);
		text_add(out, column->name);
		gap = " ";
	}
}

static void add_cell(struct text *out, const struct columns *columns, const struct value *value,
                     const struct row *row)
{
	switch (value->type) {
	case VALUE_UNKNOWN:
		break;
	case VALUE_UNSIGNED:
		text_u64(out, value->whole);
		break;
	case VALUE_SIGNED:
		text_i64(out, value->number);
		break;
	case VALUE_REAL:
		text_double(out, value->real);
		break;
	case VALUE_SECONDS:
		text_seconds(out, value->whole);
		break;
	case VALUE_TIME:
		if (columns->has_iso_times)
			text_iso_time(out, value->whole);
		else
			text_seconds(out, value->whole);
		break;
	case VALUE_WORD:
		text_add(out, value->word);
		break;
	case VALUE_TEXT:
		text_quoted(out, value->word);
		break;
	case VALUE_REASONS:
		text_bits(out, RT_CONSTANTS_REASON, value->whole, " ");
		break;
	case VALUE_PARTIAL:
	case VALUE_ESTIMATED:
		add_marked(out, columns, row, value->type);
		break;
	}
}

static void csv_row(struct text *out, const struct columns *columns, const struct row *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		struct value value = column_value(&columns->at[i], row);

		text_bytes(out, ",", i > 0);
		add_cell(out, columns, &value, row);
	}
	text_add(out, "\n");
}

const struct format format_csv = {
	.name = "csv",
	.suffix = ".csv",
	.choose = columns_choose_csv,
	.head = csv_head,
	.row = csv_row,
};
