/* SPDX-License-Identifier: MIT */
/* What the options say together. */
#include "options_check.h"

#include <string.h>

#include "series/series_choice.h"
#include "summary/template.h"
#include "summary/usage.h"
#include "text/message.h"
#include "text/text.h"

static bool is_json(const char *name)
{
	return has_suffix(name, ".json") || has_suffix(name, ".jsonl") ||
	       has_suffix(name, ".ndjson");
}

static enum summary_form form_by_file(const char *name)
{
	if (is_json(name))
		return SUMMARY_JSON;
	return has_suffix(name, ".md") ? SUMMARY_MARKDOWN : SUMMARY_TEXT;
}

static void choose_rusage_form(struct options *o)
{
	if (o->command->bit == FOR_RUSAGE && o->output && !o->has_rusage_form)
		o->as_json = is_json(o->output);
}

static bool choose_summary(struct options *o)
{
	if (o->summary_file && o->summary == SUMMARY_NONE) {
		warn("--summary none leaves nothing to write to '%s'", o->summary_file);
		return false;
	}
	if (o->summary_file && !o->has_summary_form)
		o->summary = form_by_file(o->summary_file);
	else if (!o->summary_file && o->no_summary)
		o->summary = SUMMARY_NONE;
	/* Nothing else goes there. E.g.: rtrack attach --summary json PID | jq. */
	else if (!o->summary_file && o->command->bit == FOR_ATTACH && o->has_summary_form &&
	         !o->output && !options_ask_for_series(o))
		o->summary_file = "-";
	return true;
}

unsigned options_usage_kind(const struct command *command)
{
	if (command->bit == FOR_RUN)
		return USAGE_RUN;
	return command->bit == FOR_ATTACH ? USAGE_ATTACH : USAGE_SYSTEM;
}

static bool check_template(const struct options *o)
{
	char problem[TEMPLATE_PROBLEM_BYTES];

	if (o->summary != SUMMARY_TEMPLATE && o->raw && !o->defaults.raw) {
		warn("--raw is for the texts of a template: give --template");
		return false;
	}
	if (o->summary != SUMMARY_TEMPLATE ||
	    template_check(o->template, options_usage_kind(o->command), problem))
		return true;
	warn("%s%s", problem, o->template == o->defaults.template ? " (RTRACK_OPTIONS)" : "");
	return false;
}

/* Returns the suffix of a name if it is one of these, or NULL. */
static const char *find_suffix(const char *name, const char *const *suffixes)
{
	const char *suffix = NULL;

	for (; *suffixes && !suffix; suffixes++) {
		if (has_suffix(name, *suffixes))
			suffix = *suffixes;
	}
	return suffix;
}

/* Refuse a name that promises what is not written. forms: what is; has_form: it was asked for. */
static bool check_suffix(const char *option, const char *name, const char *forms, bool has_form)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst", ".bz2", ".lz4", ".zip", NULL };
	static const char *const foreign[] = { ".parquet", ".arrow", ".feather", ".avro", ".orc",
		                               ".h5",      ".xlsx",  ".ods",     ".db",   ".sqlite",
		                               ".tsv",     ".xml",   ".yaml",    ".yml",  ".html",
		                               ".pdf",     NULL };
	const char *suffix = name ? find_suffix(name, packed) : NULL;

	if (suffix)
		warn("%s '%s': rtrack compresses nothing: leave '%s' out, and compress the file "
		     "afterwards",
		     option, name, suffix);
	else if (name && !has_form && (suffix = find_suffix(name, foreign)))
		warn("%s '%s': rtrack writes no %s: %s", option, name, suffix, forms);
	return !suffix;
}

/* Rows are JSON Lines. A file with the suffix of JSON is expected to be one value. */
static bool check_rows(const char *option, const char *name, const char *forms, bool has_format)
{
	if (!name || has_format || !has_suffix(name, ".json"))
		return check_suffix(option, name, forms, has_format);
	warn("%s '%s': rows are not one JSON value: %s", option, name, forms);
	return false;
}

static bool check_files(const struct options *o)
{
	static const char series[] = "name it *.jsonl for JSON Lines or *.csv, or give --format";
	static const char calls[] = "name it *.jsonl for JSON Lines, or give --format";
	static const char list[] = "name it *.jsonl for JSON Lines or *.csv";
	static const char summary[] = "name it *.json or *.md, or give --summary";

	if (o->command->bit == FOR_RUSAGE)
		return check_suffix("--output", o->output, "name it *.json, or give --json",
		                    o->has_rusage_form);
	return check_rows("--output", o->output, o->command->bit == FOR_TRACE ? calls : series,
	                  o->format || o->trace_format) &&
	       check_rows("--processes", o->processes, list, false) &&
	       check_suffix("--meta", o->meta, "it is JSON: name it *.json", false) &&
	       check_suffix("--summary-file", o->summary_file, summary, o->has_summary_form);
}

/* A default that another subcommand can use is left alone. E.g.: RTRACK_OPTIONS has a field of
 * trees, and the subcommand is system. */
static void leave_defaults_of_others(struct options *o)
{
	uint32_t kind = o->command->bit == FOR_SYSTEM ? RT_KIND_SYSTEM : RT_KIND_PID;
	uint32_t other = kind == RT_KIND_PID ? RT_KIND_SYSTEM : RT_KIND_PID;
	unsigned usage = options_usage_kind(o->command);
	char problem[TEMPLATE_PROBLEM_BYTES];
	size_t len;

	if (o->fields && o->fields == o->defaults.fields &&
	    columns_find_unknown(o->fields, kind, &len) &&
	    !columns_find_unknown(o->fields, other, &len))
		o->fields = o->defaults.fields = NULL;
	if (o->summary != SUMMARY_TEMPLATE || o->template != o->defaults.template ||
	    template_check(o->template, usage, problem))
		return;
	for (unsigned each = USAGE_RUN; each <= USAGE_SYSTEM; each *= 2) {
		if (!template_check(o->template, each, problem))
			continue;
		o->summary = SUMMARY_TEXT;
		o->has_summary_form = false;
		return;
	}
}

/* The files of another root show the network of its init. */
static bool check_network(const struct options *o)
{
	if (o->netns && o->root)
		warn("--netns and --root: the network is that of DIR/proc/1 then: give one of "
		     "them");
	return !(o->netns && o->root);
}

bool options_complete(struct options *o)
{
	leave_defaults_of_others(o);
	choose_rusage_form(o);
	return check_network(o) && check_files(o) && choose_summary(o) && check_template(o);
}
