/* SPDX-License-Identifier: MIT */
/* rtrack info --fields: the fields that a series can have. */
#include "info_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "series/series_columns.h"
#include "text/json.h"
#include "text/message.h"

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

/* What a series can be of. */
static const struct {
	uint32_t kind;
	const char *name;
} kinds[] = {
	{ RT_KIND_PID, "tree" },
	{ RT_KIND_CGROUP, "cgroup" },
	{ RT_KIND_SYSTEM, "system" },
	{ KIND_CGROUP_MEMBERS, "process" },
};

/* Fields of processes, with --per-process, mean something else. They are listed by themselves. */
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), PROCESSES = KIND_COUNT - 1 };

static bool is_difference(const struct column *column)
{
	return strncmp(column->name, "d_", 2) == 0;
}

/* The fields of each kind of series. */
struct field_list {
	struct columns of[KIND_COUNT];
	struct text out;
};

/* Whether a field of one kind is the same of another kind. */
static bool has_field(const struct field_list *list, int kind, int of, const struct column *column)
{
	if ((kind == PROCESSES) != (of == PROCESSES))
		return false;
	return columns_find(&list->of[kind], column->name, strlen(column->name)) != NULL;
}

static void text_of_field(struct field_list *list, int kind, const struct column *column)
{
	struct rt_field field;
	char names[64];
	size_t len = 0;

	for (int i = 0; i < KIND_COUNT; i++) {
		if (has_field(list, i, kind, column))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
			                        len ? "," : "", kinds[i].name);
	}
	text_printf(&list->out, "%-34s %-9s %-18s %s%s\n", column->name,
	            unit_in_words(column->unit), names, column_about(column, &field),
	            is_difference(column) ? ", since the row before" : "");
}

static void json_of_field(struct field_list *list, int kind, const struct column *column)
{
	struct rt_field field;

	json_begin(&list->out, NULL, '{');
	json_string(&list->out, "name", column->name);
	json_string(&list->out, "unit", column->unit);
	json_begin(&list->out, "of", '[');
	for (int i = 0; i < KIND_COUNT; i++) {
		if (has_field(list, i, kind, column))
			json_string(&list->out, NULL, kinds[i].name);
	}
	json_end(&list->out, ']');
	json_bool(&list->out, "is_difference", is_difference(column));
	json_string(&list->out, "about", column_about(column, &field));
	json_end(&list->out, '}');
}

/* Add the fields of one kind, but for those that a kind before it has. */
static void add_fields(struct field_list *list, int kind, bool as_json)
{
	for (size_t i = 0; i < list->of[kind].count; i++) {
		const struct column *column = &list->of[kind].at[i];
		bool is_listed = false;

		for (int before = 0; before < kind; before++)
			is_listed = is_listed || has_field(list, before, kind, column);
		if (!is_listed)
			(as_json ? json_of_field : text_of_field)(list, kind, column);
	}
}

int show_fields(bool as_json)
{
	struct field_list list = { 0 };
	int err = 0, code = EXIT_TROUBLE;

	for (int i = 0; err == 0 && i < KIND_COUNT; i++)
		err = columns_all(&list.of[i], kinds[i].kind);
	if (as_json)
		json_begin(&list.out, NULL, '[');
	for (int i = 0; err == 0 && i < KIND_COUNT; i++)
		add_fields(&list, i, as_json);
	if (as_json) {
		json_end(&list.out, ']');
		text_add(&list.out, "\n");
	}
	if (err == 0)
		code = text_print(&list.out);
	else
		warn("%s", error_words(err));
	text_free(&list.out);
	for (int i = 0; i < KIND_COUNT; i++)
		columns_free(&list.of[i]);
	return code;
}
