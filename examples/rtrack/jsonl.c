/* SPDX-License-Identifier: MIT */
/* Format jsonl: JSON Lines with every field in the library's tables. New fields need no change
 * here. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "format.h"
#include "json.h"
#include "units.h"

enum { SCHEMA = 1 };

/* The domains of the fields of struct rt_rusage, by index. These fields repeat fields of the
 * sample, so they are valid or partial together with them. */
static const uint64_t rusage_domains[] = {
	RT_HAS_CPU, RT_HAS_CPU, RT_HAS_PEAK_RSS, 0, 0, 0, RT_HAS_FAULTS, RT_HAS_FAULTS,
	0,          RT_HAS_IO,  RT_HAS_IO,       0, 0, 0, RT_HAS_CTXSW,  RT_HAS_CTXSW,
};

/* Fields that are 0 if there is no figure, though their domain may be known. E.g.: the largest sum
 * of PSS that was read, if it was only estimated so far. */
static const char *const none_if_zero[] = { "peak_tree_pss_bytes", NULL };

/* Fields that a row leaves out: it has them in another form (valid, reasons), they describe the
 * struct instead of a measurement (size, reserved), or they are too large for the numbers of many
 * JSON readers (tracker_id). */
static const char *const left_out[] = {
	"size",     "kind",       "valid",      "partial", "estimated", "reasons",
	"reserved", "tracker_id", "pss_source", "source",  NULL,
};

/* Fields without a domain that only trees have. */
static const char *const of_trees[] = { "members_skipped", NULL };

/* A struct, to write its fields. */
struct source {
	uint32_t struct_id;
	const void *data;
	uint32_t size;
	uint32_t kind; /* RT_KIND_ value */
	struct marks marks;
	const char *prefix; /* of the keys */
};

static void jsonl_head(struct text *out, const struct subject *subject)
{
	uint32_t loaded = rt_version();
	char version[32];

	snprintf(version, sizeof(version), "%u.%u.%u", loaded >> 16, loaded >> 8 & 0xff,
	         loaded & 0xff);
	json_begin(out, NULL, '{');
	json_string(out, "type", "meta");
	json_i64(out, "schema", SCHEMA);
	json_string(out, "version", version);
	json_string(out, "kind", subject->is_system ? "system" : "process");
	if (subject->argv) {
		json_begin(out, "command", '[');
		for (int i = 0; subject->argv[i]; i++)
			json_string(out, NULL, subject->argv[i]);
		json_end(out, ']');
	} else {
		json_null(out, "command");
	}
	json_double(out, "interval_seconds", seconds((uint64_t)subject->interval_ns));
	json_end(out, '}');
	text_add(out, "\n");
}

static void add_value(struct text *out, const char *key, const struct rt_field *field,
                      const char *at)
{
	union {
		uint32_t u32;
		int32_t i32;
		uint64_t u64;
		int64_t i64;
		double real;
	} value = { 0 };

	memcpy(&value, at, field->length < sizeof(value) ? field->length : sizeof(value));
	if (field->type == RT_TYPE_U32)
		json_u64(out, key, value.u32);
	else if (field->type == RT_TYPE_I32)
		json_i64(out, key, value.i32);
	else if (field->type == RT_TYPE_U64)
		json_u64(out, key, value.u64);
	else if (field->type == RT_TYPE_I64)
		json_i64(out, key, value.i64);
	else if (field->type == RT_TYPE_DOUBLE)
		json_double(out, key, value.real);
	else
		json_null(out, key);
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

/* Returns true if this is 0 and that means that there is no figure. */
static bool is_none(const struct rt_field *field, const char *at)
{
	uint64_t value;

	if (field->length != sizeof(value) || !is_one_of(field->name, none_if_zero))
		return false;
	memcpy(&value, at, sizeof(value));
	return value == 0;
}

static void add_field(struct text *out, const struct source *from, const struct rt_field *field)
{
	const char *at = (const char *)from->data + field->offset;
	char key[64];

	snprintf(key, sizeof(key), "%s%s", from->prefix, field->name);
	if (is_known(from->marks, field->has) && field->offset + field->length <= from->size &&
	    !is_none(field, at))
		add_value(out, key, field, at);
	else
		json_null(out, key);
}

/* Returns true if a row leaves out this field, e.g. since this kind of tracker never has it. */
static bool is_left_out(const struct source *from, const struct rt_field *field)
{
	if (!domains_apply_to(field->has, from->kind) || is_one_of(field->name, left_out))
		return true;
	return from->kind == RT_KIND_SYSTEM && is_one_of(field->name, of_trees);
}

static int get_field(const struct source *from, uint32_t index, struct rt_field *field)
{
	int err = rt_field_get(from->struct_id, index, field, sizeof(*field));

	if (err < 0)
		return err;
	if (from->struct_id == RT_STRUCT_RUSAGE)
		field->has = index < sizeof(rusage_domains) / sizeof(rusage_domains[0])
		                 ? rusage_domains[index]
		                 : 0;
	return 0;
}

/* Returns the struct rt_rusage that is a field of another struct. It has its own table. */
static struct source within(const struct source *from, const struct rt_field *field)
{
	struct source inner = *from;

	inner.struct_id = RT_STRUCT_RUSAGE;
	inner.data = (const char *)from->data + field->offset;
	inner.size = field->length;
	return inner;
}

static void add_fields(struct text *out, const struct source *from)
{
	uint32_t count = rt_field_count(from->struct_id);
	struct rt_field field;

	for (uint32_t i = 0; i < count; i++) {
		if (get_field(from, i, &field) < 0 || is_left_out(from, &field))
			continue;
		if (field.type == RT_TYPE_RUSAGE) {
			struct source inner = within(from, &field);

			add_fields(out, &inner);
		} else {
			add_field(out, from, &field);
		}
	}
}

/* Add the names of all fields that one of these bits belongs to. */
static void add_names(struct text *out, const struct source *from, uint64_t bits)
{
	uint32_t count = rt_field_count(from->struct_id);
	struct rt_field field;
	char key[64];

	for (uint32_t i = 0; i < count; i++) {
		if (get_field(from, i, &field) < 0)
			continue;
		if (field.type == RT_TYPE_RUSAGE) {
			struct source inner = within(from, &field);

			add_names(out, &inner, bits);
		} else if (field.has & bits) {
			snprintf(key, sizeof(key), "%s%s", from->prefix, field.name);
			json_string(out, NULL, key);
		}
	}
}

static void add_measured(struct text *out, const struct rt_metrics *m, const struct rt_delta *d)
{
	const struct source now = { RT_STRUCT_METRICS, m, m->size, m->kind, metrics_marks(m), "" };
	const struct source since = { RT_STRUCT_DELTA, d, d->size, d->kind, delta_marks(d), "d_" };

	json_double(out, "timestamp", seconds(m->realtime_ns));
	json_double(out, "interval_seconds", seconds(d->interval_ns));
	add_fields(out, &now);
	add_fields(out, &since);
	json_begin(out, "partial", '[');
	add_names(out, &now, now.marks.partial);
	add_names(out, &since, since.marks.partial);
	json_end(out, ']');
	json_begin(out, "estimated", '[');
	add_names(out, &now, now.marks.estimated);
	add_names(out, &since, since.marks.estimated);
	json_end(out, ']');
	json_reasons(out, "reasons", m->reasons);
}

static void jsonl_row(struct text *out, const struct row *row)
{
	json_begin(out, NULL, '{');
	json_string(out, "type", "sample");
	json_string(out, "kind", row->process ? "process" : "system");
	if (row->process) {
		json_i64(out, "pid", row->pid);
		if (row->children >= 0)
			json_i64(out, "children", row->children);
		else
			json_null(out, "children");
		json_string(out, "source", source_name(row->process->source));
		json_string(out, "pss_source", pss_source_name(row->process->pss_source));
		add_measured(out, row->process, row->process_delta);
	} else {
		add_measured(out, row->system, row->system_delta);
	}
	json_end(out, '}');
	text_add(out, "\n");
}

const struct format format_jsonl = {
	.name = "jsonl",
	.suffix = ".jsonl",
	.repeats_head = true,
	.head = jsonl_head,
	.row = jsonl_row,
};
