/* SPDX-License-Identifier: MIT */
/* The summary at the end: opens its output and chooses its form. */
#include "summary.h"

#include <errno.h>
#include <unistd.h>

#include "message.h"
#include "output.h"

int summary_open(struct summary *s, const struct options *options)
{
	*s = (struct summary){ .options = options, .fd = -1 };
	if (options->summary == SUMMARY_NONE)
		return 0;
	s->fd = options->summary_file ? open_output(options->summary_file, false) : STDERR_FILENO;
	if (s->fd < 0)
		return s->fd;
	terminal_init(&s->terminal, s->fd, options->color);
	return 0;
}

/* Write the summary in one call, so output of processes that still run does not appear in it. */
static void finish(struct summary *s)
{
	size_t written;
	int err = write_all(s->fd, s->text.data, s->text.len, &written);

	if (s->fd != STDERR_FILENO && s->fd != STDOUT_FILENO && close(s->fd) < 0 && err == 0)
		err = -errno;
	if (err < 0)
		warn("cannot write the summary");
	s->fd = -1;
	text_free(&s->text);
}

void summary_of_command(struct summary *s, const struct usage *usage)
{
	if (s->fd < 0)
		return;
	if (s->options->summary == SUMMARY_JSON)
		json_of_command(&s->text, usage);
	else
		text_of_tree(&s->text, &s->terminal, usage, s->options->verbose);
	finish(s);
}

void summary_of_attached(struct summary *s, const struct usage *usages, size_t count,
                         uint64_t wall_ns)
{
	if (s->fd < 0)
		return;
	if (s->options->summary == SUMMARY_JSON) {
		json_of_attached(&s->text, usages, count, wall_ns);
	} else {
		for (size_t i = 0; i < count; i++)
			text_of_tree(&s->text, &s->terminal, &usages[i], s->options->verbose);
	}
	finish(s);
}

void summary_of_system(struct summary *s, const struct follow *system)
{
	if (s->fd < 0)
		return;
	if (s->options->summary == SUMMARY_JSON)
		json_of_system(&s->text, system);
	else
		text_of_system(&s->text, &s->terminal, system, s->options->verbose);
	finish(s);
}
