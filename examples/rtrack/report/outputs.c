/* SPDX-License-Identifier: MIT */
/* The outputs of one subcommand together. */
#include "outputs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/commands.h"
#include "text/message.h"

static int refuse(const struct options *options, const struct output *a, const struct output *b)
{
	const struct output *other = a->fd == STDOUT_FILENO ? b : a;
	bool is_stdout = a->fd == STDOUT_FILENO || b->fd == STDOUT_FILENO;
	char what[400], is_named[160] = "";

	if (other->fd != STDOUT_FILENO)
		snprintf(is_named, sizeof(is_named), ", which is '%.120s'", other->name);
	if (is_stdout)
		snprintf(what, sizeof(what),
		         "the %s and the %s cannot both go to standard output%s: name a file for "
		         "one of them",
		         a->what, b->what, is_named);
	else if (strcmp(a->name, b->name) == 0)
		snprintf(what, sizeof(what),
		         "the %s and the %s cannot both go to '%.120s': name two files", a->what,
		         b->what, a->name);
	else
		snprintf(what, sizeof(what),
		         "'%.120s' and '%.120s' are one file: the %s and the %s need two", a->name,
		         b->name, a->what, b->what);
	return usage_error(options, what);
}

int outputs_check(const struct options *options, const struct series *series,
                  const struct summary *summary, const struct processes *processes)
{
	const struct output *outputs[4];
	int count = 0;

	if (series->out.fd >= 0)
		outputs[count++] = &series->out;
	/* On standard output it may come before the rows. */
	if (series->meta.fd > STDERR_FILENO)
		outputs[count++] = &series->meta;
	if (processes && processes->out.fd >= 0)
		outputs[count++] = &processes->out;
	/* Standard error was not asked for. */
	if (summary->out.fd >= 0 && options->summary_file)
		outputs[count++] = &summary->out;
	for (int i = 0; i < count; i++) {
		for (int j = i + 1; j < count; j++) {
			if (output_is_same(outputs[i], outputs[j]))
				return refuse(options, outputs[i], outputs[j]);
		}
	}
	return 0;
}

int outputs_exit_code(int code, const struct series *series, const struct summary *summary,
                      const struct processes *processes)
{
	bool is_torn = series->out.is_torn || series->meta.is_torn || summary->out.is_torn ||
	               (processes && processes->out.is_torn);
	bool is_lost = series->out.failed || series->meta.failed || summary->out.failed;
	bool is_of_command = processes != NULL;

	return code == 0 && (is_torn || (is_lost && !is_of_command)) ? EXIT_TROUBLE : code;
}
