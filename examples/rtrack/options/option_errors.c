/* SPDX-License-Identifier: MIT */
/* Messages about options that are wrong: what is valid, and what may have been meant. */
#include "option_errors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "text/message.h"
#include "text/suggest.h"

enum { NAME_BYTES = 40 };

/* --- Names. --- */

/* Get the name in a word such as "--name=argument". No option has a name that does not fit. */
static void copy_name(char name[NAME_BYTES], const char *word)
{
	size_t len = strcspn(word + 2, "=");

	snprintf(name, NAME_BYTES, "%.*s", (int)len, word + 2);
	if (len >= NAME_BYTES)
		memcpy(name + NAME_BYTES - sizeof("..."), "...", sizeof("..."));
}

/* Returns the only name that is near, or NULL. */
static const char *near_name(const char *name, unsigned commands)
{
	const struct option_row *row;

	for (int i = 0; (row = option_row_at(i)); i++) {
		if (row->commands & commands && row->group != OPTION_OLD &&
		    is_near(name, row->name))
			return row->name;
	}
	return NULL;
}

static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len) {
		if (at[-1] == '-' && at[-2] == '-' && (at[len] == ',' || at[len] == '\0'))
			return true;
	}
	return false;
}

/* List the names that begin with this one. Returns how many there are. */
static int list_longer(char *list, size_t size, const char *name, unsigned commands)
{
	const struct option_row *row;
	size_t len = 0;
	int count = 0;

	*list = '\0';
	for (int i = 0; (row = option_row_at(i)); i++) {
		if (!(row->commands & commands) || row->group == OPTION_OLD ||
		    strncmp(row->name, name, strlen(name)) != 0 || is_listed(list, row->name))
			continue;
		if (len + strlen(", --") + strlen(row->name) + sizeof(" ...") > size) {
			memcpy(list + len, " ...", sizeof(" ..."));
			break;
		}
		len += (size_t)snprintf(list + len, size - len, "%s--%s", count++ ? ", " : "",
		                        row->name);
	}
	return count;
}

/* Returns the first subcommand that has an option of exactly this name, or NULL. */
static const char *subcommand_with(const char *name)
{
	static const struct {
		unsigned bit;
		const char *name;
	} commands[] = {
		{ FOR_RUN, "run" },     { FOR_ATTACH, "attach" }, { FOR_SYSTEM, "system" },
		{ FOR_TRACE, "trace" }, { FOR_RUSAGE, "rusage" }, { FOR_INFO, "info" },
	};
	const struct option_row *row;

	for (int i = 0; (row = option_row_at(i)); i++) {
		for (size_t c = 0; c < sizeof(commands) / sizeof(commands[0]); c++) {
			if (strcmp(row->name, name) == 0 && row->group != OPTION_OLD &&
			    row->commands & commands[c].bit)
				return commands[c].name;
		}
	}
	return NULL;
}

static void warn_long(const char *word, unsigned commands)
{
	char name[NAME_BYTES], list[400];
	const char *meant, *other;

	copy_name(name, word);
	other = subcommand_with(name);
	meant = near_name(name, commands);
	if (other)
		warn("unknown option '--%s': it is an option of 'rtrack %s'", name, other);
	else if (meant)
		warn("unknown option '--%s': did you mean '--%s'?", name, meant);
	else if (*name && list_longer(list, sizeof(list), name, commands) > 1)
		warn("option '--%s' may be one of %s", name, list);
	else
		warn("unknown option '--%s'", name);
}

/* --- Arguments. --- */

/* Returns what an argument must be, or NULL for one of some words. */
static const char *valid_argument(const struct option_row *row)
{
	static const struct {
		const char *argument, *is;
	} kinds[] = {
		{ "TIME",
		  "a number with ns, us, ms, s, m, min, h or d, e.g. 100ms; seconds without" },
		{ "N", "a whole number, at least 1" },
		{ "PID", "a process id: a whole number, at least 1" },
		{ "FILE", "the name of a file" },
		{ "BYTES", "a number of bytes" },
		{ "SIZE", "bytes, or a number with K, M, G, T or P, e.g. 512M, 1.5G or 1GiB; "
		          "KB, MB, GB are powers of 1000" },
		{ "TEXT", "a text" },
		{ "NAMES", "names, separated by commas" },
		{ "PATH", "the path of a cgroup" },
		{ "ID", "the name of a container, or its id or the beginning of that" },
		{ "NAME", "the name of a unit" },
		{ "REGEX", "a regular expression" },
		{ "DIR", "a directory with proc in it" },
		{ "NETNS", "a process, or a name as of 'ip netns list'" },
	};

	size_t len;
	const char *argument = option_row_argument(row, &len);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].argument) == len &&
		    strncmp(argument, kinds[i].argument, len) == 0)
			return kinds[i].is;
	}
	return NULL;
}

/* Returns the smallest and the largest value of a number, in words. */
static const char *valid_range(const struct option_row *row)
{
	if (row->key == 'i')
		return "at least 1ms, at most 104000d";
	if (row->key == KEY_RING_BYTES)
		return "at most 64M";
	return strstr(row->argument, "TIME") ? "more than 0, at most 104000d" : "at least 1";
}

void option_warn_argument(const struct option_row *row, const char *argument, int err)
{
	const char *valid = err == -ERANGE ? valid_range(row) : valid_argument(row);
	char meant[NAME_BYTES];
	size_t len;
	const char *words = option_row_words(row, &len);

	if (valid)
		warn("invalid %s '%s': %s", row->name, argument, valid);
	else if (option_row_near_word(row, argument, meant, sizeof(meant)))
		warn("invalid %s '%s': did you mean '%s'? use %.*s", row->name, argument, meant,
		     (int)len, words);
	else
		warn("invalid %s '%s': use %.*s", row->name, argument, (int)len, words);
}

/* --- What getopt_long() refuses. --- */

void option_warn_refused(unsigned commands, int result, int key, const char *word)
{
	const struct option_row *row = key ? option_row_find(commands, key) : NULL;
	bool is_long = strncmp(word, "--", 2) == 0;
	char name[NAME_BYTES];

	if (row && is_long)
		snprintf(name, sizeof(name), "--%s", row->name);
	else
		snprintf(name, sizeof(name), "-%c", key);
	if (result == ':' && row)
		warn("option '%s' needs an argument: %s", name,
		     valid_argument(row) ? valid_argument(row) : row->help);
	else if (row && is_long)
		warn("option '%s' takes no argument", name);
	else if (is_long)
		warn_long(word, commands);
	else
		warn("unknown option '%s'", name);
}
