/* SPDX-License-Identifier: MIT */
/* The columns that a series can have, made from the library's tables of fields: a field that a
 * later library adds becomes a column by itself. */
#include "series_columns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow/members.h"

/* The domains of the fields of struct rt_rusage, by index. These fields repeat fields of the
 * sample, so they are valid or partial together with them. */
static const uint64_t rusage_domains[] = {
	RT_HAS_CPU, RT_HAS_CPU, RT_HAS_PEAK_RSS, 0, 0, 0, RT_HAS_FAULTS, RT_HAS_FAULTS,
	0,          RT_HAS_IO,  RT_HAS_IO,       0, 0, 0, RT_HAS_CTXSW,  RT_HAS_CTXSW,
};

/* Fields that describe the struct instead of a measurement, or that series_computed.c has in
 * words. */
static const char *const left_out[] = {
	"size",     "kind",       "valid",      "partial", "estimated", "reasons",
	"reserved", "tracker_id", "pss_source", "source",  "state",     NULL,
};

/* Fields without a domain that only trees have. */
static const char *const of_trees[] = { "members_skipped", "members_unreadable", NULL };

/* Fields that can be chosen, but that a row has in another form: realtime_ns is the timestamp, and
 * clock ticks are seconds that were rounded. */
static const char *const repeated[] = { "realtime_ns", "cpu_user_ticks", "cpu_system_ticks",
	                                "ticks_per_second", NULL };

/* Fields that are 0 if there is no figure, though their domain may be known. E.g.: the largest sum
 * of PSS that was read, if none was; a parent in another pid namespace. */
static const char *const none_if_zero[] = { "peak_tree_pss_bytes", "ppid", NULL };

/* Limits and upper bounds are UINT64_MAX if there is none: then the cell is empty. No other field
 * can be so much. */
#define NO_LIMIT UINT64_MAX

/* A struct of the library: its fields become columns. */
struct table {
	uint32_t struct_id;
	enum column_origin origin;
	uint32_t offset; /* in the sample or in the difference */
};

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

/* There is room: see most_columns(). */
static void append(struct columns *c, const struct column *column)
{
	c->at[c->count++] = *column;
}

static enum value_type type_of_field(uint32_t type)
{
	if (type == RT_TYPE_DOUBLE)
		return VALUE_REAL;
	return type == RT_TYPE_I32 || type == RT_TYPE_I64 ? VALUE_SIGNED : VALUE_UNSIGNED;
}

static bool is_number(const struct rt_field *field)
{
	return field->type == RT_TYPE_U32 || field->type == RT_TYPE_I32 ||
	       field->type == RT_TYPE_U64 || field->type == RT_TYPE_I64 ||
	       field->type == RT_TYPE_DOUBLE;
}

/* Returns the domains of a field. The table of struct rt_rusage has the bits of
 * rt_pid_getrusage() instead. */
static uint64_t domains_of(const struct table *table, uint32_t index, const struct rt_field *field)
{
	if (table->struct_id != RT_STRUCT_RUSAGE)
		return field->has;
	return index < sizeof(rusage_domains) / sizeof(rusage_domains[0]) ? rusage_domains[index]
	                                                                  : 0;
}

/* Returns true if a name is that of a field of a sample. Its difference then begins with d_. */
static bool is_of_sample(const struct table *table, const char *name)
{
	struct rt_field field;

	if (table->struct_id == RT_STRUCT_RUSAGE)
		return true;
	for (uint32_t i = 0; rt_field_get(RT_STRUCT_METRICS, i, &field, sizeof(field)) == 0; i++) {
		if (strcmp(field.name, name) == 0)
			return true;
	}
	return false;
}

/* Add nanoseconds as seconds: with all their digits they would exceed the numbers that many readers
 * of JSON can hold, 2^53. */
static void append_seconds(struct columns *c, const struct column *nanoseconds)
{
	struct column column = *nanoseconds;
	size_t len = strlen(column.name) - strlen("_ns");

	snprintf(column.name + len, sizeof(column.name) - len, "_seconds");
	snprintf(column.unit, sizeof(column.unit), "s");
	column.type = VALUE_SECONDS;
	append(c, &column);
}

static void append_field(struct columns *c, const struct table *table, uint32_t index,
                         const struct rt_field *field, uint64_t has)
{
	bool is_difference = table->origin == FROM_MEMBER_BEFORE ||
	                     (table->origin == FROM_DELTA && is_of_sample(table, field->name));
	struct column column = {
		.origin = table->origin,
		.type = type_of_field(field->type),
		.has = has,
		.field_type = field->type,
		.offset = table->offset + field->offset,
		.length = field->length,
		.struct_id = table->struct_id,
		.index = index,
		/* A field of struct rt_rusage without a domain is always 0. */
		.is_usual = !is_one_of(field->name, repeated) &&
		            (has || table->struct_id != RT_STRUCT_RUSAGE),
	};
	size_t len = strlen(field->name);

	snprintf(column.name, sizeof(column.name), "%s%s", is_difference ? "d_" : "", field->name);
	snprintf(column.unit, sizeof(column.unit), "%s", field->unit);
	if (len > 3 && strcmp(field->name + len - 3, "_ns") == 0) {
		append_seconds(c, &column);
		column.is_usual = false;
	}
	append(c, &column);
}

/* The domains that rows of a series can have. Some rows of a series of cgroups may be of trees, and
 * a process has what a tree has. Rates are in each difference. */
static uint64_t domains_of_kind(uint32_t kind)
{
	uint64_t domains = rt_domains(kind) | RT_HAS_RATE;

	return kind == RT_KIND_SYSTEM ? domains : domains | rt_domains(RT_KIND_PID);
}

static bool applies(const struct columns *c, const char *name, uint64_t has)
{
	if (is_one_of(name, left_out) || has & ~domains_of_kind(c->kind))
		return false;
	return c->kind != RT_KIND_SYSTEM || !is_one_of(name, of_trees);
}

/* The peak in the struct rt_rusage of a difference is that of the later sample. A process has
 * differences of counters alone. */
static bool is_no_difference(const struct table *table, const struct rt_field *field)
{
	if (table->origin == FROM_MEMBER_BEFORE)
		return field->role != RT_FIELD_COUNTER;
	return table->origin == FROM_DELTA && strcmp(field->name, "ru_maxrss") == 0;
}

static void append_fields(struct columns *c, const struct table *table)
{
	struct rt_field field;

	for (uint32_t i = 0; rt_field_get(table->struct_id, i, &field, sizeof(field)) == 0; i++) {
		uint64_t has = domains_of(table, i, &field);

		/* struct rt_rusage has a table of its own. */
		if (field.type == RT_TYPE_RUSAGE) {
			const struct table inner = { RT_STRUCT_RUSAGE, table->origin,
				                     field.offset };

			append_fields(c, &inner);
		} else if (is_number(&field) && applies(c, field.name, has) &&
		           !is_no_difference(table, &field)) {
			append_field(c, table, i, &field, has);
		}
	}
}

static unsigned bit_of_kind(uint32_t kind)
{
	if (kind == RT_KIND_SYSTEM)
		return OF_SYSTEM;
	if (kind == KIND_MEMBERS)
		return OF_MEMBERS;
	if (kind == KIND_CGROUP_MEMBERS)
		return OF_CGROUP_MEMBERS;
	return kind == RT_KIND_CGROUP ? OF_CGROUP : OF_TREE;
}

static void append_computed(struct columns *c, const struct column *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct column *column = &table[i];

		if (column->kinds & bit_of_kind(c->kind) &&
		    !(column->has & ~domains_of_kind(c->kind)))
			append(c, column);
	}
}

/* Times are columns twice: in nanoseconds, and in seconds. */
static size_t most_columns(void)
{
	size_t fields = rt_field_count(RT_STRUCT_METRICS) + rt_field_count(RT_STRUCT_DELTA) +
	                2 * rt_field_count(RT_STRUCT_RUSAGE) +
	                2 * rt_field_count(RT_STRUCT_PROCESS);

	return computed_column_count + member_column_count + 2 * fields;
}

int columns_all(struct columns *c, uint32_t kind)
{
	static const struct table sample = { RT_STRUCT_METRICS, FROM_SAMPLE, 0 };
	static const struct table delta = { RT_STRUCT_DELTA, FROM_DELTA, 0 };
	static const struct table member = { RT_STRUCT_PROCESS, FROM_MEMBER, 0 };
	static const struct table before = { RT_STRUCT_PROCESS, FROM_MEMBER_BEFORE, 0 };

	*c = (struct columns){ .kind = kind };
	c->at = calloc(most_columns(), sizeof(*c->at));
	if (!c->at)
		return -ENOMEM;
	append_computed(c, computed_columns, computed_column_count);
	if (bit_of_kind(kind) & OF_PROCESSES) {
		append_computed(c, member_columns, member_column_count);
		append_fields(c, &member);
		append_fields(c, &before);
		return 0;
	}
	append_fields(c, &sample);
	append_fields(c, &delta);
	return 0;
}

void columns_free(struct columns *c)
{
	free(c->at);
	c->at = NULL;
	c->count = 0;
}

const struct column *columns_find(const struct columns *c, const char *name, size_t len)
{
	for (size_t i = 0; i < c->count; i++) {
		if (strlen(c->at[i].name) == len && memcmp(c->at[i].name, name, len) == 0)
			return &c->at[i];
	}
	return NULL;
}

const char *column_about(const struct column *column, struct rt_field *field)
{
	if (column->about)
		return column->about;
	*field = (struct rt_field){ 0 };
	rt_field_get(column->struct_id, column->index, field, sizeof(*field));
	return field->text;
}

const struct rt_metrics *row_sample(const struct row *row)
{
	return row->process ? row->process : row->system;
}

const struct rt_delta *row_delta(const struct row *row)
{
	return row->process ? row->process_delta : row->system_delta;
}

/* Context switches are those of the threads that live. If one exits, the rest of a difference is a
 * lower bound. */
static struct marks marks_since_row_before(const struct member *member)
{
	const struct rt_process *now = member->now, *base = member->base;
	struct marks marks = { 0 };
	uint64_t known;

	if (!base)
		return marks;
	known = (now->valid | now->estimated) & (base->valid | base->estimated);
	marks.estimated = known & (now->estimated | base->estimated);
	marks.valid = known & ~marks.estimated;
	if (now->threads > 1 || base->threads > 1) {
		marks.partial = marks.valid & RT_HAS_CTXSW;
		marks.valid &= ~RT_HAS_CTXSW;
	}
	return marks;
}

static struct marks marks_of(const struct column *column, const struct row *row)
{
	switch (column->origin) {
	case FROM_DELTA:
		return delta_marks(row_delta(row));
	case FROM_MEMBER:
		return (struct marks){ row->member->now->valid, 0, row->member->now->estimated };
	case FROM_MEMBER_BEFORE:
		return marks_since_row_before(row->member);
	default:
		return metrics_marks(row_sample(row));
	}
}

/* A struct of the library with the values of a row. An older library fills less of it. */
static const char *struct_of(const struct column *column, const struct row *row, uint32_t *size)
{
	const struct rt_metrics *sample = row_sample(row);
	const struct rt_delta *delta = row_delta(row);

	if (column->origin == FROM_SAMPLE) {
		*size = sample->size;
		return (const char *)sample;
	}
	if (column->origin == FROM_DELTA) {
		*size = delta->size;
		return (const char *)delta;
	}
	*size = row->member->now->size;
	return (const char *)row->member->now;
}

static struct value read_field(const struct column *column, const char *at)
{
	struct value value = { .type = column->type };
	union {
		uint32_t u32;
		int32_t i32;
	} narrow;

	if (column->length == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		if (column->field_type == RT_TYPE_I32)
			value.number = narrow.i32;
		else
			value.whole = narrow.u32;
	} else {
		memcpy(&value.whole, at, sizeof(value.whole));
	}
	if (value.type == VALUE_UNSIGNED && value.whole == NO_LIMIT)
		value.type = VALUE_UNKNOWN;
	if (value.whole == 0 && is_one_of(column->name, none_if_zero))
		value.type = VALUE_UNKNOWN;
	return value;
}

/* A counter that has fallen has lost a thread, with what it counted. */
static struct value since_row_before(const struct column *column, const struct row *row,
                                     struct value value)
{
	struct value base = read_field(column, (const char *)row->member->base + column->offset);

	if (base.whole > value.whole)
		value.type = VALUE_UNKNOWN;
	value.whole -= base.whole;
	return value;
}

struct value column_value(const struct column *column, const struct row *row)
{
	struct value value = { .type = VALUE_UNKNOWN };
	const char *values;
	uint32_t size;

	if (!is_known(marks_of(column, row), column->has))
		return value;
	if (column->compute)
		return column->compute(row);
	values = struct_of(column, row, &size);
	if (column->offset + column->length > size)
		return value;
	value = read_field(column, values + column->offset);
	return column->origin == FROM_MEMBER_BEFORE ? since_row_before(column, row, value) : value;
}

bool column_is_marked(const struct column *column, const struct row *row, enum value_type mark)
{
	struct marks marks = marks_of(column, row);

	return (column->has & (mark == VALUE_PARTIAL ? marks.partial : marks.estimated)) != 0 &&
	       column_value(column, row).type != VALUE_UNKNOWN;
}
