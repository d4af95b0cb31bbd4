/* SPDX-License-Identifier: MIT */
/* RTRACK_OPTIONS: defaults of run, attach and system. */
#include "options_environment.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include <rtrack/rtrack.h>

#include "option_parser.h"
#include "text/message.h"
#include "text/words.h"

#define ENVIRONMENT "RTRACK_OPTIONS"

/* The words stay until the end of the program, because the options point to them. */
bool options_parse_environment(struct options *options, int *exit_code)
{
	static struct words words;
	const char *text = getenv(ENVIRONMENT);
	char first[] = "rtrack"; /* in the place of argv[0] */
	int err = 0;

	if (!text || !(options->command->bit & FOR_SERIES))
		return true;
	words_free(&words);
	err = words_split(&words, text, first);
	*exit_code = EXIT_USAGE;
	if (err < 0) {
		warn(ENVIRONMENT ": %s",
		     err == -EINVAL ? "a quote is not closed" : error_words(err));
		return false;
	}
	if (!option_parser_run(options, FOR_SERIES, words.count, words.word, exit_code)) {
		if (*exit_code != 0)
			warn("this is in " ENVIRONMENT "='%s'", text);
		return false;
	}
	if (optind < words.count) {
		warn(ENVIRONMENT ": '%s' is not an option", words.word[optind]);
		return false;
	}
	if (options->command->bit == FOR_ATTACH)
		options->timeout_ns = 0; /* it is the limit of run */
	options->defaults.format = options->format;
	options->defaults.fields = options->fields;
	options->defaults.meta = options->meta;
	options->defaults.template = options->template;
	options->defaults.per_process = options->per_process;
	options->defaults.append = options->append;
	options->defaults.has_iso_times = options->has_iso_times;
	options->defaults.wait = options->wait;
	options->defaults.full = options->full;
	options->defaults.all = options->all;
	options->defaults.no_children = options->no_children;
	options->defaults.raw = options->raw;
	options->defaults.strict_limits = options->strict_limits;
	options->defaults.hard_memory = options->hard_memory;
	options->defaults.live = options->live;
	return true;
}
