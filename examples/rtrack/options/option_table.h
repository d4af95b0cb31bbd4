/* SPDX-License-Identifier: MIT */
/* The table of options. The parser, the help and the messages are made from it. */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Options without a short form. */
enum {
	KEY_COUNT = 256,
	KEY_TIMEOUT,
	KEY_MAX_MEMORY,
	KEY_MAX_CPU_TIME,
	KEY_MAX_PROCESSES,
	KEY_STRICT_LIMITS,
	KEY_HARD_MEMORY,
	KEY_SUMMARY,
	KEY_SUMMARY_FILE,
	KEY_TEMPLATE,
	KEY_RAW,
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
	KEY_ROOT,
	KEY_NETNS,
	KEY_NAME,
	KEY_FULL,
	KEY_WAIT,
	KEY_PER_PROCESS
};

/* More than there are rows. */
#define OPTIONS_MAX 72

/* Of the help, in its order. OPTION_OLD: an old name, which the help leaves out. */
enum option_group {
	OPTION_FOLLOW,
	OPTION_LIMIT,
	OPTION_WRITE,
	OPTION_SHOW,
	OPTION_MEASURE,
	OPTION_HELP,
	OPTION_OLD
};

struct option_row {
	int key;
	unsigned commands;
	enum option_group group;
	const char *name;
	const char *argument; /* NULL: none; "[=...]": it may be left out */
	const char *help;
};

/* Returns the row at an index, or NULL after the last. */
const struct option_row *option_row_at(int index);

/* Returns the row that a key has for any of these subcommands, or NULL. */
const struct option_row *option_row_find(unsigned commands, int key);

/* Returns the words that the help names as valid arguments, and the length of that part. They stand
 * behind a colon if there is one, up to a semicolon. E.g.: "colour the summary: auto, always or
 * never". */
const char *option_row_words(const struct option_row *row, size_t *len);

/* Get the one of these words that an argument was perhaps meant to be. */
bool option_row_near_word(const struct option_row *row, const char *argument, char *out,
                          size_t size);

/* Returns the name of its argument and the length of that. E.g.: "WHEN" of "[=WHEN]". */
const char *option_row_argument(const struct option_row *row, size_t *len);

/* Whether the option has an argument, as getopt_long() has it. */
int option_row_has_argument(const struct option_row *row);

#endif
