/* SPDX-License-Identifier: MIT */
/* A time series and the file that it is written to. */
#include "series.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if a file ends in the middle of a row, after a crash or on a full disk. */
static bool ends_in_torn_row(const char *name, off_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char last = '\n';

	if (fd < 0)
		return false;
	if (pread(fd, &last, 1, size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

/* Returns the name of the output file, or NULL for no series. run writes a series only with
 * --output, because standard output belongs to the command. The other subcommands write to standard
 * output, except if it is a terminal and --format is not given. */
static const char *choose_output(const struct options *options)
{
	if (options->output || options->command->bit == FOR_RUN)
		return options->output;
	return options->format || !isatty(STDOUT_FILENO) ? "-" : NULL;
}

int series_open(struct series *s, const struct options *options)
{
	const char *name = choose_output(options);

	*s = (struct series){ .out = { .fd = -1, .what = "series" } };
	if (!name)
		return 0;
	s->format = options->format ? options->format : format_by_file(name);
	return output_open(&s->out, name, "series", options->append);
}

void series_begin(struct series *s, const struct options *options, const struct subject *subject)
{
	struct output *out = &s->out;
	struct stat st;
	bool is_file = fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode);
	bool is_continued = options->append && is_file && st.st_size > 0;

	if (out->fd < 0)
		return;
	output_begin(out);
	/* With run, the command may write to the same standard output at any time. */
	out->is_exclusive =
	    is_file && (out->fd != STDOUT_FILENO || options->command->bit != FOR_RUN);
	if (is_continued && out->fd != STDOUT_FILENO && ends_in_torn_row(out->name, st.st_size))
		text_add(&out->text, "\n");
	if (!is_continued || s->format->repeats_head)
		s->format->head(&out->text, subject);
	if (out->text.len > 0)
		output_flush(out);
}

void series_write(struct series *s, const struct row *row)
{
	if (s->out.fd < 0)
		return;
	s->format->row(&s->out.text, row);
	output_flush(&s->out);
}

void series_close(struct series *s)
{
	output_close(&s->out);
}

bool series_wants_system(const struct series *s)
{
	return s->out.fd >= 0 && s->format->wants_system;
}
