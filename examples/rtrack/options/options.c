/* SPDX-License-Identifier: MIT */
/* Options and operands of the command line. */
#include "options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "option_parser.h"
#include "options_check.h"
#include "options_environment.h"
#include "text/units.h"

int options_show_version(void)
{
	uint32_t loaded = rt_version();

	printf("rtrack %d.%d.%d (librtrack %u.%u.%u)\n", RT_VERSION_MAJOR, RT_VERSION_MINOR,
	       RT_VERSION_PATCH, loaded >> 16, loaded >> 8 & 0xff, loaded & 0xff);
	return 0;
}

bool options_ask_for_series(const struct options *options)
{
	return options->format != options->defaults.format ||
	       options->fields != options->defaults.fields ||
	       options->meta != options->defaults.meta ||
	       options->per_process != options->defaults.per_process;
}

bool options_parse(struct options *options, const struct command *command, int argc, char **argv,
                   int *exit_code)
{
	bool is_parsed;

	*options = (struct options){ .command = command, .interval_ns = NS_PER_S };
	if (!options_parse_environment(options, exit_code))
		return false;
	is_parsed = option_parser_run(options, command->bit, argc, argv, exit_code);
	options->operands = argv + optind;
	options->operand_count = argc - optind;
	if (is_parsed && !options_complete(options)) {
		*exit_code = option_parser_try_help(command);
		return false;
	}
	return is_parsed;
}
