/* SPDX-License-Identifier: MIT */
/* The summary as one JSON object on one line. docs/schema/summary.json describes it. Unknown values
 * are null. */
#include <string.h>

#include "meta.h"
#include "summary.h"
#include "summary_words.h"
#include "text/json.h"
#include "text/units.h"

enum { SCHEMA = 3 };

static const char *kind_name(enum usage_kind kind)
{
	switch (kind) {
	case USAGE_RUN:
		return "run";
	case USAGE_ATTACH:
		return "attach";
	default:
		return "system";
	}
}

/* Returns true if two fields are in the same object. */
static bool are_together(const struct summary_field *a, const struct summary_field *b)
{
	return a && b && a->group && b->group && strcmp(a->group, b->group) == 0;
}

/* The fields of a group stand together in the table. */
static void add_fields(struct text *out, const struct usage *u)
{
	const struct summary_field *field, *before = NULL;

	for (size_t i = 0; (field = summary_field_at(i)); i++) {
		const struct summary_field *after = summary_field_at(i + 1);

		if (!(field->kinds & u->kind))
			continue;
		if (field->group && !are_together(before, field))
			json_begin(out, field->group, '{');
		summary_field_add_json(out, field, u);
		if (field->group && !are_together(field, after))
			json_end(out, '}');
		before = field;
	}
}

static void add_process(struct text *out, const struct top_process *p)
{
	json_begin(out, NULL, '{');
	json_i64(out, "pid", p->pid);
	json_string(out, "command", summary_top_command(p));
	if (p->has_cpu)
		json_double(out, "cpu_seconds", seconds(p->cpu_ns));
	else
		json_null(out, "cpu_seconds");
	if (p->has_memory)
		json_u64(out, "peak_rss_bytes", p->peak_rss_bytes);
	else
		json_null(out, "peak_rss_bytes");
	json_bool(out, "cpu_final", p->is_cpu_final);
	json_bool(out, "peak_rss_final", p->is_memory_final);
	json_end(out, '}');
}

static void add_top(struct text *out, const char *key, const struct top_list *list)
{
	json_begin(out, key, '[');
	for (size_t i = 0; i < list->count; i++)
		add_process(out, &list->process[i]);
	json_end(out, ']');
}

void summary_as_json(struct text *out, const struct usage *u)
{
	json_begin(out, NULL, '{');
	json_string(out, "type", "summary");
	json_i64(out, "schema", SCHEMA);
	json_string(out, "kind", kind_name(u->kind));
	add_fields(out, u);
	if (u->kind != USAGE_SYSTEM && u->top) {
		add_top(out, "top_cpu", &u->top->by_cpu);
		add_top(out, "top_memory", &u->top->by_memory);
	}
	json_meta(out, "meta");
	json_end(out, '}');
	text_add(out, "\n");
}
