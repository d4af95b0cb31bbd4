/* SPDX-License-Identifier: MIT */
/* The summary as a Markdown table, for the page of a CI job or a comment on a change. */
#include <string.h>

#include "summary.h"
#include "summary_words.h"
#include "text/utf8.h"

/* Add text of another origin as a code span. A code span begins and ends with more backticks than
 * any run in it has; a vertical bar would end the cell of a table. */
static void add_code(struct text *out, const char *s)
{
	struct text shown = { 0 };
	size_t longest = 0, run = 0;

	utf8_add_printable(&shown, s, true);
	for (size_t i = 0; i < shown.len; i++) {
		run = shown.data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		text_add(out, "`");
	text_add(out, longest > 0 ? " " : "");
	for (size_t i = 0; i < shown.len; i++)
		text_printf(out, shown.data[i] == '|' ? "\\%c" : "%c", shown.data[i]);
	text_add(out, longest > 0 ? " " : "");
	for (size_t i = 0; i <= longest; i++)
		text_add(out, "`");
	text_free(&shown);
}

static void add_title(struct text *out, const struct usage *u)
{
	struct text name = { 0 };

	text_add(out, "**rtrack**: ");
	if (summary_add_subject(out, &name, u))
		add_code(out, name.data ? name.data : "");
	text_free(&name);
	if (u->kind != USAGE_SYSTEM) {
		text_add(out, ", ");
		summary_add_ending(out, u);
	}
	text_add(out, "\n\n| Figure | Value | Meaning |\n|---|---:|---|\n");
}

static void add_field(struct text *out, const struct summary_field *field, const struct usage *u)
{
	struct text value = { 0 };

	text_printf(out, "| %s | ", field->label);
	if (field->unit == UNIT_WORD) {
		summary_add_value(&value, field, u);
		add_code(out, value.data ? value.data : "");
	} else {
		summary_add_value(out, field, u);
	}
	text_add(out, " | ");
	summary_add_meaning(out, field, u);
	text_add(out, " |\n");
	text_free(&value);
}

static void add_top(struct text *out, const char *label, const struct top_list *list,
                    void (*add)(struct text *out, const struct top_process *process))
{
	for (size_t i = 0; i < list->count; i++) {
		text_printf(out, "| %s | ", i == 0 ? label : "");
		add(out, &list->process[i]);
		text_add(out, " | ");
		add_code(out, summary_top_command(&list->process[i]));
		text_add(out, " |\n");
	}
}

static void add_accounting(struct text *out, const struct usage *u)
{
	text_add(out, "\nAccounting: ");
	summary_add_accounting(out, u);
	for (unsigned i = 0;; i++) {
		struct text words = { 0 };

		if (!summary_add_caveat(&words, u, i))
			break;
		text_printf(out, ". %s", words.data);
		text_free(&words);
	}
	text_add(out, ".\n");
}

void summary_as_markdown(struct text *out, const struct usage *u, bool is_long)
{
	const struct summary_field *field;

	add_title(out, u);
	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		if (summary_shows(field, u, is_long))
			add_field(out, field, u);
	}
	if (summary_shows_top(u)) {
		add_top(out, "most CPU", &u->top->by_cpu, summary_add_top_cpu);
		add_top(out, "most memory", &u->top->by_memory, summary_add_top_memory);
	}
	if (u->kind != USAGE_SYSTEM)
		add_accounting(out, u);
}
