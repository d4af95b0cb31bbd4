/* SPDX-License-Identifier: MIT */
/* rtrack info --fields: the fields that a series can have. */
#include "info_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "series_columns.h"

/* The units of the library (UCUM) in words. */
static const struct {
	const char *unit, *words;
} units[] = {
	{ "By", "bytes" },     { "KiBy", "KiB" }, { "512By", "512 bytes" },
	{ "{tick}", "ticks" }, { "1", "" },
};

static const char *unit_in_words(const char *unit)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].unit) == 0)
			return units[i].words;
	}
	return unit;
}

static bool is_difference(const struct column *column)
{
	return strncmp(column->name, "d_", 2) == 0;
}

static void text_of_field(struct text *out, const struct column *column, const char *kinds)
{
	text_printf(out, "%-34s %-9s %-7s %s%s\n", column->name, unit_in_words(column->unit), kinds,
	            column_about(column), is_difference(column) ? ", since the row before" : "");
}

static void json_of_field(struct text *out, const struct column *column, const char *kinds)
{
	json_begin(out, NULL, '{');
	json_string(out, "name", column->name);
	json_string(out, "unit", column->unit);
	json_string(out, "of", kinds);
	json_bool(out, "is_difference", is_difference(column));
	json_string(out, "about", column_about(column));
	json_end(out, '}');
}

/* Add the fields of one kind that the other kind has, too, or those that it does not have. */
static void add_fields(struct text *out, const struct columns *of, const struct columns *other,
                       bool is_shared, bool as_json, const char *kinds)
{
	for (size_t i = 0; i < of->count; i++) {
		const struct column *column = &of->at[i];
		bool is_in_both = columns_find(other, column->name, strlen(column->name)) != NULL;

		if (is_in_both == is_shared)
			(as_json ? json_of_field : text_of_field)(out, column, kinds);
	}
}

int show_fields(bool as_json)
{
	struct columns tree = { 0 }, system = { 0 };
	struct text out = { 0 };
	int code, err = columns_all(&tree, RT_KIND_PID);

	if (err == 0)
		err = columns_all(&system, RT_KIND_SYSTEM);
	if (err < 0) {
		warn("%s", error_words(err));
		columns_free(&tree);
		return EXIT_TROUBLE;
	}
	if (as_json)
		json_begin(&out, NULL, '[');
	add_fields(&out, &tree, &system, true, as_json, "both");
	add_fields(&out, &tree, &system, false, as_json, "tree");
	add_fields(&out, &system, &tree, false, as_json, "system");
	if (as_json) {
		json_end(&out, ']');
		text_add(&out, "\n");
	}
	code = text_print(&out);
	text_free(&out);
	columns_free(&tree);
	columns_free(&system);
	return code;
}
