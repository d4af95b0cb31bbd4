/* SPDX-License-Identifier: MIT */
/* rtrack rusage: shows the sixteen getrusage(2) fields of this or any other process. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "options/commands.h"
#include "text/json.h"
#include "text/message.h"

/* The library's field table has the names, units and offsets. */
static double real_at(const struct rt_rusage *usage, const struct rt_field *field)
{
	double value;

	memcpy(&value, (const char *)usage + field->offset, sizeof(value));
	return value;
}

static int64_t whole_at(const struct rt_rusage *usage, const struct rt_field *field)
{
	int64_t value;

	memcpy(&value, (const char *)usage + field->offset, sizeof(value));
	return value;
}

static const char *unit_in_words(const struct rt_field *field)
{
	if (strcmp(field->unit, "KiBy") == 0)
		return "KiB";
	if (strcmp(field->unit, "512By") == 0)
		return "x 512 bytes";
	return strcmp(field->unit, "1") == 0 ? "" : field->unit;
}

static void add_line(struct text *out, const struct rt_rusage *usage, const struct rt_field *field,
                     bool known)
{
	text_printf(out, "%-12s ", field->name);
	if (!known)
		text_printf(out, "%16s\n", "-");
	else if (field->type == RT_TYPE_DOUBLE)
		text_printf(out, "%16.6f %s\n", real_at(usage, field), unit_in_words(field));
	else
		text_printf(out, "%16" PRId64 "%s%s\n", whole_at(usage, field),
		            *unit_in_words(field) ? " " : "", unit_in_words(field));
}

static void add_member(struct text *out, const struct rt_rusage *usage,
                       const struct rt_field *field, bool known)
{
	if (!known)
		json_null(out, field->name);
	else if (field->type == RT_TYPE_DOUBLE)
		json_double(out, field->name, real_at(usage, field));
	else
		json_i64(out, field->name, whole_at(usage, field));
}

/* Returns the exit code. */
static int show(const struct rt_rusage *usage, uint32_t valid, bool as_json)
{
	struct text out = { 0 };
	struct rt_field field;
	int code;

	if (as_json)
		json_begin(&out, NULL, '{');
	for (uint32_t i = 0; rt_field_get(RT_STRUCT_RUSAGE, i, &field, sizeof(field)) == 0; i++) {
		bool known = (valid >> i & 1) != 0;

		if (as_json)
			add_member(&out, usage, &field, known);
		else
			add_line(&out, usage, &field, known);
	}
	if (as_json) {
		json_end(&out, '}');
		text_add(&out, "\n");
	}
	code = text_print(&out);
	text_free(&out);
	return code;
}

static int own_scope(const struct options *options)
{
	if (options->of_children)
		return RT_RUSAGE_CHILDREN;
	return options->of_thread ? RT_RUSAGE_THREAD : RT_RUSAGE_SELF;
}

int command_rusage(const struct options *options)
{
	struct rt_rusage usage;
	uint32_t valid = UINT32_MAX;
	int err;

	if (options->operand_count > 0)
		return unexpected_argument(options, ": use --pid to name a process");
	if (options->of_children + options->of_thread + (options->pid > 0) > 1)
		return usage_error(options,
		                   "only one of --children, --thread and --pid can be given");
	if (options->pid > 0)
		err = rt_pid_getrusage(options->pid, &usage, &valid);
	else
		err = rt_getrusage(own_scope(options), &usage);
	if (err < 0) {
		if (options->pid > 0)
			warn("cannot read process %d: %s", (int)options->pid, error_words(err));
		else
			warn("cannot read the figures: %s", error_words(err));
		return EXIT_BEFORE_START;
	}
	return show(&usage, valid, options->as_json);
}
