/* SPDX-License-Identifier: MIT */
/* Options and operands of the command line. One table serves the parser and the help. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "figures.h"
#include "format.h"
#include "message.h"
#include "options_check.h"
#include "template.h"
#include "trace_format.h"
#include "trace_names.h"
#include "units.h"
#include "words.h"

#define SHORTEST_INTERVAL_NS (NS_PER_S / 1000)

/* Options without a short form. */
enum {
	KEY_COUNT = 256,
	KEY_TIMEOUT,
	KEY_SUMMARY,
	KEY_SUMMARY_FILE,
	KEY_TEMPLATE,
	KEY_LABEL,
	KEY_NO_CHILDREN,
	KEY_ACCOUNTING,
	KEY_PROCESSES,
	KEY_PSS,
	KEY_COLOR,
	KEY_LIVE,
	KEY_CHILDREN,
	KEY_THREAD,
	KEY_PID,
	KEY_JSON,
	KEY_ALL,
	KEY_CALLS,
	KEY_BACK_END,
	KEY_LIVE_CHILDREN,
	KEY_RING_BYTES,
	KEY_GPU,
	KEY_FIELDS,
	KEY_TIME_FORMAT,
	KEY_META,
	KEY_LIST_FIELDS,
	KEY_CGROUP,
	KEY_UNIT,
	KEY_CONTAINER,
	KEY_NAME,
	KEY_WAIT
};

#define ENVIRONMENT "RTRACK_OPTIONS" /* defaults of run, attach and system */

/* As the library has it. */
#define RING_BYTES_MAX (UINT64_C(64) << 20)

struct option_row {
	int key;
	unsigned commands;
	const char *name;
	const char *argument; /* NULL: none; "[=...]": it may be left out */
	const char *help;
};

static const struct option_row rows[] = {
	{ 'i', FOR_SERIES, "interval", "TIME",
	  "time between samples, e.g. 0.1, 100ms or 5m; default 1s" },
	{ 'd', FOR_SERIES, "duration", "TIME", "end the series after this time" },
	{ KEY_COUNT, FOR_SERIES, "count", "N", "end the series after N samples" },
	{ KEY_TIMEOUT, FOR_RUN, "timeout", "TIME",
	  "terminate the command after this time; exit with 124" },
	{ 'o', FOR_SERIES, "output", "FILE", "write the series to FILE, or - for standard output" },
	{ 'a', FOR_SERIES, "append", NULL, "append to FILE instead of replacing it" },
	{ 'f', FOR_SERIES, "format", "FORMAT",
	  "csv, csv-v1, csv-v5 or jsonl; default: by the suffix of FILE" },
	{ KEY_FIELDS, FOR_SERIES, "fields", "NAMES",
	  "write these fields, separated by commas; see 'rtrack info --fields'" },
	{ KEY_TIME_FORMAT, FOR_SERIES, "time-format", "HOW",
	  "write the timestamps as epoch (seconds since 1970) or iso (ISO 8601)" },
	{ KEY_META, FOR_SERIES, "meta", "FILE", "write to FILE what the series is of, as JSON" },
	{ 'f', FOR_RUSAGE, "format", "FORMAT", "text or json" },
	{ KEY_SUMMARY, FOR_SERIES, "summary", "FORM", "text, json, markdown or none" },
	{ KEY_SUMMARY_FILE, FOR_SERIES, "summary-file", "FILE",
	  "write the summary to FILE, not to standard error" },
	{ KEY_TEMPLATE, FOR_SERIES, "template", "TEXT",
	  "write TEXT as summary, e.g. '{wall_seconds} {peak_rss_bytes}' or '%e %M'" },
	{ KEY_LABEL, FOR_SERIES, "label", "TEXT", "put TEXT into the summary" },
	{ KEY_NO_CHILDREN, FOR_RUN | FOR_ATTACH, "no-children", NULL,
	  "follow only the process, not its descendants" },
	{ KEY_CGROUP, FOR_ATTACH, "cgroup", "PATH",
	  "follow this cgroup, e.g. /system.slice/cron.service" },
	{ KEY_UNIT, FOR_ATTACH, "unit", "NAME", "follow the cgroup of this systemd unit" },
	{ KEY_CONTAINER, FOR_ATTACH, "container", "ID", "follow the cgroup of this container" },
	{ KEY_NAME, FOR_ATTACH, "name", "REGEX", "follow the process that has this name" },
	{ KEY_WAIT, FOR_ATTACH, "wait", NULL, "wait until what these options name is there" },
	{ KEY_TIMEOUT, FOR_ATTACH, "timeout", "TIME",
	  "with --wait: give up after this time; exit with 124" },
	{ KEY_ACCOUNTING, FOR_RUN, "accounting", "METHOD",
	  "auto, poll, wait, wait+perf, cgroup or bpf" },
	{ KEY_PSS, FOR_RUN | FOR_ATTACH, "pss", "HOW",
	  "read proportional memory: exact, budget or off; default budget" },
	{ KEY_GPU, FOR_SERIES, "gpu", NULL,
	  "look at GPUs, too; opens the library of their driver" },
	{ KEY_PROCESSES, FOR_RUN, "processes", "FILE",
	  "list every process in FILE (CSV, or JSON for *.jsonl)" },
	{ KEY_LIVE, FOR_RUN, "live", "[=WHEN]",
	  "show figures in the last row of the terminal: always or never; default never" },
	{ KEY_LIVE, FOR_ATTACH | FOR_SYSTEM, "live", "[=WHEN]",
	  "show a line that is updated in place: auto, always or never" },
	{ KEY_COLOR, FOR_SERIES, "color", "WHEN", "colour the summary: auto, always or never" },
	{ KEY_PID, FOR_TRACE, "pid", "PID", "trace this process and its descendants" },
	{ KEY_ALL, FOR_TRACE, "all", NULL, "trace all processes of the system" },
	{ KEY_CALLS, FOR_TRACE, "calls", "CALLS",
	  "getrusage, wait4, waitid, separated by commas; default getrusage" },
	{ KEY_BACK_END, FOR_TRACE, "back-end", "HOW", "auto, bpf or ptrace" },
	{ KEY_LIVE_CHILDREN, FOR_TRACE, "live-children", NULL,
	  "also show what children not yet waited for have used" },
	{ KEY_NO_CHILDREN, FOR_TRACE, "no-children", NULL,
	  "trace only the process, not its descendants" },
	{ 'o', FOR_TRACE, "output", "FILE", "write the calls to FILE, or - for standard output" },
	{ 'f', FOR_TRACE, "format", "FORMAT",
	  "text, jsonl or tracee; default: by the suffix of FILE" },
	{ 'd', FOR_TRACE, "duration", "TIME", "end the trace after this time" },
	{ KEY_RING_BYTES, FOR_TRACE, "ring-bytes", "N",
	  "memory for calls that wait to be written; default 1 MiB" },
	{ 'q', FOR_TRACE, "quiet", NULL, "write no summary" },
	{ KEY_CHILDREN, FOR_RUSAGE, "children", NULL, "show the children that rtrack waited for" },
	{ KEY_THREAD, FOR_RUSAGE, "thread", NULL, "show the calling thread" },
	{ KEY_PID, FOR_RUSAGE, "pid", "PID", "show this process" },
	{ KEY_JSON, FOR_INFO, "json", NULL, "write one JSON object" },
	{ KEY_LIST_FIELDS, FOR_INFO, "fields", NULL, "list the fields that a series can have" },
	{ 'q', FOR_SERIES, "quiet", NULL, "write no live line, and no summary unless to a file" },
	{ 'v', FOR_SERIES, "verbose", NULL, "write a longer summary" },
	{ 'h', FOR_ALL, "help", NULL, "show this help and exit" },
	{ 'V', FOR_ALL, "version", NULL, "show the version and exit" },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* As getopt_long() has it. */
static int has_argument(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return *row->argument == '[' ? optional_argument : required_argument;
}

void options_show_help(const struct command *command)
{
	printf("Usage: rtrack %s [OPTION]...%s%s\n%s\n\nOptions:\n", command->name,
	       *command->operands ? " " : "", command->operands, command->about);
	for (int i = 0; i < ROW_COUNT; i++) {
		char names[32];

		if (!(rows[i].commands & command->bit))
			continue;
		snprintf(names, sizeof(names), "--%s%s%s", rows[i].name,
		         has_argument(&rows[i]) == required_argument ? " " : "",
		         rows[i].argument ? rows[i].argument : "");
		if (rows[i].key < KEY_COUNT)
			printf("  -%c, %-19s  %s\n", rows[i].key, names, rows[i].help);
		else
			printf("      %-19s  %s\n", names, rows[i].help);
	}
	printf("\nExample:\n  %s\n\nSee rtrack(1) for details.\n", command->example);
}

int options_show_version(void)
{
	uint32_t loaded = rt_version();

	printf("rtrack %d.%d.%d (librtrack %u.%u.%u)\n", RT_VERSION_MAJOR, RT_VERSION_MINOR,
	       RT_VERSION_PATCH, loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	return 0;
}

static int show_template_names(const struct command *command)
{
	struct text names = { 0 };
	int code;

	template_list_names(&names, options_usage_kind(command));
	code = text_print(&names);
	text_free(&names);
	return code;
}

/* Find a word in a list that ends with NULL. Returns 0 and its index, or -EINVAL. */
static int pick(const char *word, const char *const *words, unsigned *index)
{
	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(word, words[i]) == 0) {
			*index = i;
			return 0;
		}
	}
	return -EINVAL;
}

static const char *const when_words[] = { "auto", "always", "never", NULL };

static int set_when(enum when *out, const char *word)
{
	unsigned chosen;
	int err = pick(word, when_words, &chosen);

	if (err == 0)
		*out = (enum when)chosen;
	return err;
}

static int set_pss(struct options *o, const char *word)
{
	static const char *const words[] = { "budget", "exact", "off", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err == 0)
		o->pss = (enum pss_reads)chosen;
	return err;
}

static int set_summary(struct options *o, const char *word)
{
	static const char *const words[] = { "text", "json", "markdown", "none", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err < 0)
		return err;
	o->summary = (enum summary_form)chosen;
	o->has_summary_form = true;
	o->no_summary = false;
	return 0;
}

static int set_template(struct options *o, const char *pattern)
{
	o->template = pattern;
	o->summary = SUMMARY_TEMPLATE;
	o->has_summary_form = true;
	o->no_summary = false;
	return *pattern ? 0 : -EINVAL;
}

static int set_time_format(struct options *o, const char *word)
{
	static const char *const words[] = { "epoch", "iso", NULL };
	unsigned chosen;
	int err = pick(word, words, &chosen);

	if (err == 0)
		o->has_iso_times = chosen == 1;
	return err;
}

static int set_accounting(struct options *o, const char *word)
{
	for (o->accounting = 0; accounting_name(o->accounting); o->accounting++) {
		if (strcmp(word, accounting_name(o->accounting)) == 0)
			return 0;
	}
	return -EINVAL;
}

/* Parse names that are separated by commas. */
static int set_calls(struct options *o, const char *words)
{
	for (o->calls = 0;; words++) {
		size_t len = strcspn(words, ",");
		uint32_t call = trace_call_by_name(words, len);

		if (!call)
			return -EINVAL;
		o->calls |= call;
		words += len;
		if (!*words)
			return 0;
	}
}

/* The words are in the order of the RT_TRACE_BACK_END_ values. */
static int set_back_end(struct options *o, const char *word)
{
	static const char *const words[] = { "auto", "bpf", "ptrace", NULL };

	return pick(word, words, &o->back_end);
}

static int set_format(struct options *o, const char *word)
{
	static const char *const words[] = { "text", "json", NULL };
	unsigned chosen;
	int err;

	if (o->command->bit == FOR_TRACE) {
		o->trace_format = trace_format_by_name(word);
		return o->trace_format ? 0 : -EINVAL;
	}
	if (o->command->bit != FOR_RUSAGE) {
		o->format = format_by_name(word);
		return o->format ? 0 : -EINVAL;
	}
	err = pick(word, words, &chosen);
	if (err == 0)
		o->as_json = chosen == 1;
	return err;
}

static int set_pid(struct options *o, const char *word)
{
	uint64_t pid;
	int err = parse_count(word, INT32_MAX, &pid);

	if (err == 0)
		o->pid = (int32_t)pid;
	return err;
}

static int set_interval(struct options *o, const char *word)
{
	int err = parse_duration(word, &o->interval_ns);

	if (err < 0)
		return err;
	return o->interval_ns < SHORTEST_INTERVAL_NS ? -ERANGE : 0;
}

/* Set an option that has an argument. Returns 0, -EINVAL if the argument is invalid, or -ERANGE if
 * an interval is too short. */
static int set_with_argument(struct options *o, int key, const char *argument)
{
	switch (key) {
	case 'i':
		return set_interval(o, argument);
	case 'd':
		return parse_duration(argument, &o->duration_ns);
	case KEY_COUNT:
		return parse_count(argument, UINT64_MAX, &o->count);
	case KEY_TIMEOUT:
		return parse_duration(argument, &o->timeout_ns);
	case 'o':
		o->output = argument;
		return *argument ? 0 : -EINVAL;
	case 'f':
		return set_format(o, argument);
	case KEY_FIELDS:
		o->fields = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_TIME_FORMAT:
		return set_time_format(o, argument);
	case KEY_META:
		o->meta = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_SUMMARY:
		return set_summary(o, argument);
	case KEY_TEMPLATE:
		return set_template(o, argument);
	case KEY_LABEL:
		o->label = argument;
		return 0;
	case KEY_SUMMARY_FILE:
		o->summary_file = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_ACCOUNTING:
		return set_accounting(o, argument);
	case KEY_PSS:
		return set_pss(o, argument);
	case KEY_PROCESSES:
		o->processes = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_CALLS:
		return set_calls(o, argument);
	case KEY_BACK_END:
		return set_back_end(o, argument);
	case KEY_CGROUP:
		o->cgroup = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_UNIT:
		o->unit = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_CONTAINER:
		o->container = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_NAME:
		o->name = argument;
		return *argument ? 0 : -EINVAL;
	case KEY_RING_BYTES:
		return parse_count(argument, RING_BYTES_MAX, &o->ring_bytes);
	case KEY_LIVE:
		return set_when(&o->live, argument);
	case KEY_COLOR:
		return set_when(&o->color, argument);
	default:
		return set_pid(o, argument);
	}
}

static void set_flag(struct options *o, int key)
{
	switch (key) {
	case 'a':
		o->append = true;
		break;
	case 'q':
		o->quiet = true;
		o->no_summary = true;
		o->live = WHEN_NEVER;
		break;
	case 'v':
		o->verbose = true;
		break;
	case KEY_NO_CHILDREN:
		o->no_children = true;
		break;
	case KEY_GPU:
		o->gpu = true;
		break;
	case KEY_CHILDREN:
		o->scope = RT_RUSAGE_CHILDREN;
		break;
	case KEY_THREAD:
		o->scope = RT_RUSAGE_THREAD;
		break;
	case KEY_JSON:
		o->as_json = true;
		break;
	case KEY_LIST_FIELDS:
		o->list_fields = true;
		break;
	case KEY_ALL:
		o->all = true;
		break;
	case KEY_WAIT:
		o->wait = true;
		break;
	case KEY_LIVE_CHILDREN:
		o->live_children = true;
		break;
	}
}

/* The arguments of getopt_long(). For run and trace, "+" makes it stop at the first operand, so it
 * leaves the options of the command alone. E.g.: in "rtrack run ls -l", -l belongs to ls. */
struct getopt_tables {
	char shorts[2 * ROW_COUNT + 2];
	struct option longs[ROW_COUNT + 1];
};

static void make_tables(struct getopt_tables *tables, unsigned commands)
{
	char *s = tables->shorts;
	struct option *l = tables->longs;

	*tables = (struct getopt_tables){ 0 };
	if (commands & (FOR_RUN | FOR_TRACE))
		*s++ = '+';
	for (int i = 0; i < ROW_COUNT; i++) {
		if (!(rows[i].commands & commands))
			continue;
		l->name = rows[i].name;
		l->has_arg = has_argument(&rows[i]);
		l->val = rows[i].key;
		l++;
		if (rows[i].key >= KEY_COUNT)
			continue;
		*s++ = (char)rows[i].key;
		if (rows[i].argument)
			*s++ = ':';
	}
}

static const struct option_row *find_row(unsigned commands, int key)
{
	for (int i = 0; i < ROW_COUNT; i++) {
		if (rows[i].key == key && rows[i].commands & commands)
			return &rows[i];
	}
	return NULL;
}

static int try_help(const struct command *command)
{
	fprintf(stderr, "Try 'rtrack %s --help'.\n", command->name);
	return EXIT_USAGE;
}

/* Returns what an argument must be, or NULL for one of some words. */
static const char *valid_argument(const struct option_row *row)
{
	static const struct {
		const char *argument, *is;
	} kinds[] = {
		{ "TIME", "a number with us, ms, s, min, h or d; without one, seconds" },
		{ "N", "a whole number, at least 1" },
		{ "PID", "a process id" },
		{ "FILE", "the name of a file" },
		{ "BYTES", "a number of bytes" },
		{ "TEXT", "a text" },
		{ "NAMES", "names, separated by commas" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(row->argument, kinds[i].argument) == 0)
			return kinds[i].is;
	}
	return NULL;
}

/* Say what is wrong with an argument. The help of an option that takes words names them, after a
 * colon if there is one. E.g.: "colour the summary: auto, always or never". */
static void warn_of_argument(const struct option_row *row, const char *argument, int err)
{
	const char *valid = err == -ERANGE ? "at least 1ms" : valid_argument(row);
	const char *words = strchr(row->help, ':');

	words = words && words < row->help + strcspn(row->help, ";") ? words + 2 : row->help;
	if (valid)
		warn("invalid %s '%s': %s", row->name, argument, valid);
	else
		warn("invalid %s '%s': use %.*s", row->name, argument, (int)strcspn(words, ";"),
		     words);
}

/* Returns the argument of --live without "=". Up to 0.2 it was a word of its own, and still may be.
 * E.g.: "--live never". */
static char *take_when(char **argv)
{
	static char by_itself[] = "always";
	unsigned index;

	return argv[optind] && pick(argv[optind], when_words, &index) == 0 ? argv[optind++]
	                                                                   : by_itself;
}

/* Parse one option. Returns true to go on, or false and the exit code. */
static bool parse_one(struct options *o, int key, char **argv, int *exit_code)
{
	const struct option_row *row = find_row(o->command->bit, key);
	int err;

	if (key == 'h') {
		options_show_help(o->command);
		*exit_code = 0;
		return false;
	}
	if (key == KEY_TEMPLATE && strcmp(optarg, "help") == 0) {
		*exit_code = show_template_names(o->command);
		return false;
	}
	if (key == 'V') {
		*exit_code = options_show_version();
		return false;
	}
	if (!row) { /* getopt_long() has printed what is wrong */
		*exit_code = try_help(o->command);
		return false;
	}
	if (!row->argument) {
		set_flag(o, key);
		return true;
	}
	if (!optarg)
		optarg = take_when(argv);
	err = set_with_argument(o, key, optarg);
	if (err == 0)
		return true;
	warn_of_argument(row, optarg, err);
	*exit_code = try_help(o->command);
	return false;
}

/* Parse all arguments. Those from the environment may be options of other subcommands, which are
 * ignored: RTRACK_OPTIONS holds defaults for several. */
static bool parse_all(struct options *options, unsigned known, int argc, char **argv,
                      int *exit_code)
{
	struct getopt_tables tables;
	bool is_parsed = true;
	int key;

	make_tables(&tables, known);
	optind = 0; /* begin anew: the table may be another one than before */
	while (is_parsed &&
	       (key = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		if (key == '?' || find_row(options->command->bit, key) || !find_row(known, key))
			is_parsed = parse_one(options, key, argv, exit_code);
	}
	return is_parsed;
}

/* Parse RTRACK_OPTIONS. Errors name it. The words stay until the end of the program, because the
 * options point to them. */
static bool parse_environment(struct options *options, int *exit_code)
{
	static struct words words;
	const char *text = getenv(ENVIRONMENT);
	char name[64];
	int err = 0;

	if (!text || !(options->command->bit & FOR_SERIES))
		return true;
	words_free(&words);
	snprintf(name, sizeof(name), "rtrack %s: %s", options->command->name, ENVIRONMENT);
	/* The first word stands for argv[0]. */
	err = words_split(&words, text, name);
	*exit_code = EXIT_USAGE;
	if (err < 0) {
		warn(ENVIRONMENT ": %s",
		     err == -EINVAL ? "a quote is not closed" : rt_strerror(err));
		return false;
	}
	if (!parse_all(options, FOR_SERIES, words.count, words.word, exit_code)) {
		fprintf(stderr, "rtrack: this is in " ENVIRONMENT "='%s'\n", text);
		return false;
	}
	if (optind < words.count) {
		warn(ENVIRONMENT ": '%s' is no option", words.word[optind]);
		return false;
	}
	return true;
}

bool options_parse(struct options *options, const struct command *command, int argc, char **argv,
                   int *exit_code)
{
	char name[32];
	bool is_parsed;

	*options = (struct options){ .command = command, .interval_ns = NS_PER_S };
	if (!parse_environment(options, exit_code))
		return false;
	snprintf(name, sizeof(name), "rtrack %s", command->name);
	argv[0] = name; /* getopt_long() begins its messages with it */
	is_parsed = parse_all(options, command->bit, argc, argv, exit_code);
	argv[0] = NULL;
	options->operands = argv + optind;
	options->operand_count = argc - optind;
	if (is_parsed && !options_complete(options)) {
		*exit_code = try_help(command);
		return false;
	}
	return is_parsed;
}
