/* SPDX-License-Identifier: MIT */
/* The help of a subcommand, made from the table of options. */
#include "help.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "option_table.h"

enum {
	WIDTH = 80,
	TEXT_COLUMN = 27, /* where the texts of options begin */
};

/* Print words from this column on, in as many lines as they take. */
static void print_words(const char *words, size_t column)
{
	for (size_t at = column; *words;) {
		size_t len = strcspn(words, " ");

		if (at > column && at + 1 + len > WIDTH) {
			printf("\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)printf("%s%.*s", at > column ? " " : "", (int)len, words);
		words += len;
		words += strspn(words, " ");
	}
	printf("\n");
}

static void print_option(const struct option_row *row)
{
	char names[32], form[4] = "   ";

	if (row->key < KEY_COUNT)
		snprintf(form, sizeof(form), "-%c,", row->key);
	snprintf(names, sizeof(names), "--%s%s%s", row->name,
	         option_row_has_argument(row) == required_argument ? " " : "",
	         row->argument ? row->argument : "");
	printf("  %s %-19s  ", form, names);
	print_words(row->help, TEXT_COLUMN);
}

static void print_group(const struct command *command, enum option_group group)
{
	static const char *const titles[] = {
		[OPTION_FOLLOW] = "What to follow",  [OPTION_LIMIT] = "Limits",
		[OPTION_WRITE] = "What to write",    [OPTION_SHOW] = "How to show it",
		[OPTION_MEASURE] = "How to measure", [OPTION_HELP] = "Help",
	};
	const struct option_row *row;
	bool has_title = false;

	for (int i = 0; (row = option_row_at(i)); i++) {
		if (row->group != group || !(row->commands & command->bit))
			continue;
		if (!has_title)
			printf("\n%s:\n", titles[group]);
		has_title = true;
		print_option(row);
	}
}

void help_show(const struct command *command)
{
	printf("Usage: rtrack %s [OPTION]...%s%s\n", command->name, *command->operands ? " " : "",
	       command->operands);
	print_words(command->about, 0);
	for (enum option_group group = 0; group < OPTION_OLD; group++)
		print_group(command, group);
	printf("\nExample:\n  %s\n\nSee rtrack", command->example);
	if (command->bit & (FOR_RUN | FOR_ATTACH | FOR_TRACE))
		printf("-%s", command->name);
	printf("(1) for details.\n");
}
