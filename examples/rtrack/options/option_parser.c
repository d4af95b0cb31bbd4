/* SPDX-License-Identifier: MIT */
/* Parses arguments by the table of options. */
#include "option_parser.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "help.h"
#include "option_errors.h"
#include "option_table.h"
#include "option_values.h"
#include "options_check.h"
#include "process/program.h"
#include "summary/template.h"
#include "text/message.h"
#include "text/text.h"

/* The arguments of getopt_long(). For run and trace, "+" makes it stop at the first operand, so it
 * leaves the options of the command alone. E.g.: in "rtrack run ls -l", -l belongs to ls. For
 * rusage, "-" makes it return each operand before "--" as KEY_OPERAND: behind that is a command. */
enum { KEY_OPERAND = 1 };

struct getopt_tables {
	char shorts[2 * OPTIONS_MAX + 3];
	struct option longs[OPTIONS_MAX + 1];
	const char *once[OPTIONS_MAX]; /* the arguments of options that are given once, by row */
};

static void make_tables(struct getopt_tables *tables, unsigned commands)
{
	char *s = tables->shorts;
	struct option *l = tables->longs;
	const struct option_row *row;

	*tables = (struct getopt_tables){ 0 };
	if (commands & (FOR_RUN | FOR_TRACE))
		*s++ = '+';
	if (commands & FOR_RUSAGE)
		*s++ = '-';
	*s++ = ':'; /* a missing argument has a result of its own */
	for (int i = 0; (row = option_row_at(i)); i++) {
		if (!(row->commands & commands))
			continue;
		l->name = row->name;
		l->has_arg = option_row_has_argument(row);
		l->val = row->key;
		l++;
		if (row->key >= KEY_COUNT)
			continue;
		*s++ = (char)row->key;
		if (row->argument)
			*s++ = ':';
	}
}

int option_parser_try_help(const struct command *command)
{
	fprintf(stderr, "Try 'rtrack %s --help'.\n", command->name);
	return EXIT_USAGE;
}

/* Returns the argument of --live without "=". Up to 0.2 it was a word of its own, and still may be.
 * E.g.: "--live never". */
static char *take_when(char **argv)
{
	static char by_itself[] = "always";

	return argv[optind] && option_is_when(argv[optind]) ? argv[optind++] : by_itself;
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

static bool is_target(const struct option_row *row)
{
	return row->key == KEY_CGROUP || row->key == KEY_UNIT || row->key == KEY_CONTAINER ||
	       row->key == KEY_NAME;
}

/* Returns false for a second file or target of a kind: the first would be dropped without a word.
 * One from RTRACK_OPTIONS is a default, which any other replaces. */
static bool is_first(struct getopt_tables *tables, const struct option_row *row)
{
	const char **before = &tables->once[row - option_row_at(0)];

	if (!is_target(row) && strcmp(row->argument, "FILE") != 0)
		return true;
	if (!*before) {
		*before = optarg;
		return true;
	}
	if (is_target(row))
		warn("--%s '%s': '%s' was given before, and one %s is followed at a time",
		     row->name, optarg, *before, row->name);
	else
		warn("--%s '%s': '%s' was given before, and only one file can be written",
		     row->name, optarg, *before);
	return false;
}

/* Returns false if an option stands in the place of a file. E.g.: "-o -- true" would make a file
 * of the name "--". */
static bool is_no_option(const struct option_row *row)
{
	if (strcmp(row->argument, "FILE") != 0 || optarg[0] != '-' || !optarg[1])
		return true;
	warn("--%s: file name missing (for a file called '%s', write ./%s)", row->name, optarg,
	     optarg);
	return false;
}

/* Returns false if the next word is the unit of a number. E.g.: "-i 100 ms". A program of such a
 * name may be what is run. */
static bool has_own_unit(const struct options *o, const struct option_row *row, const char *next)
{
	struct options tried = *o;
	char joined[NAME_MAX], path[PATH_MAX];
	size_t len;
	const char *kind = option_row_argument(row, &len);

	if (!next || !isalpha((unsigned char)*next) ||
	    (strncmp(kind, "TIME", len) != 0 && strncmp(kind, "SIZE", len) != 0))
		return true;
	snprintf(joined, sizeof(joined), "%s%s", optarg, next);
	if (option_set_value(&tried, row->key, joined) < 0 ||
	    (o->command->bit & (FOR_RUN | FOR_TRACE) &&
	     program_find(next, path, sizeof(path)) == 0))
		return true;
	warn("invalid %s '%s %s': a number and its unit are one word, as in %s", row->name, optarg,
	     next, joined);
	return false;
}

/* Take the process of rusage. Returns true to go on, or false and the exit code. */
static bool take_process(struct options *o, int *exit_code)
{
	const char *word = optarg;

	if (o->pid) {
		warn("one process is shown at a time");
		*exit_code = option_parser_try_help(o->command);
		return false;
	}
	if (option_set_value(o, KEY_PID, word) == 0)
		return true;
	warn("invalid process '%s': a process id is a whole number, at least 1; to run a command "
	     "write 'rtrack rusage -- %s'",
	     word, word);
	*exit_code = EXIT_USAGE;
	return false;
}

/* Parse one option. Returns true to go on, or false and the exit code. */
static bool parse_one(struct options *o, struct getopt_tables *tables, unsigned known, int key,
                      char **argv, int *exit_code)
{
	const struct option_row *row = option_row_find(o->command->bit, key);
	int err;

	if (key == KEY_OPERAND)
		return take_process(o, exit_code);
	if (key == 'h') {
		help_show(o->command);
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
	if (!row) {
		option_warn_refused(known, key, optopt, argv[optind - 1]);
		*exit_code = option_parser_try_help(o->command);
		return false;
	}
	if (!row->argument) {
		option_set_flag(o, key);
		return true;
	}
	if (!optarg && key == KEY_WAIT) {
		option_set_flag(o, key);
		return true;
	}
	if (!optarg)
		optarg = take_when(argv);
	if (!is_no_option(row) || !is_first(tables, row) || !has_own_unit(o, row, argv[optind])) {
		*exit_code = option_parser_try_help(o->command);
		return false;
	}
	err = option_set_value(o, key, optarg);
	if (err == 0)
		return true;
	option_warn_argument(row, optarg, err);
	*exit_code = option_parser_try_help(o->command);
	return false;
}

bool option_parser_run(struct options *options, unsigned known, int argc, char **argv,
                       int *exit_code)
{
	struct getopt_tables tables;
	bool is_parsed = true;
	int key;

	make_tables(&tables, known);
	opterr = 0;
	optind = 0; /* begin anew: the table may be another one than before */
	while (is_parsed &&
	       (key = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		if (key == '?' || key == ':' || option_row_find(options->command->bit, key) ||
		    !option_row_find(known, key))
			is_parsed = parse_one(options, &tables, known, key, argv, exit_code);
	}
	return is_parsed;
}
