/* SPDX-License-Identifier: MIT */
/* Where the rows of a time series go: a file, a pipe or standard output, always in whole rows. */
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

int open_output(const char *name, int append)
{
	int fd;

	if (strcmp(name, "-") == 0)
		return STDOUT_FILENO;
	do {
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		warn("cannot open '%s': %s", name, rt_strerror(-errno));
	return fd;
}

int write_all(int fd, const char *data, size_t len, size_t *written)
{
	*written = 0;
	while (*written < len) {
		ssize_t n = write(fd, data + *written, len - *written);

		if (n >= 0) {
			*written += (size_t)n;
		} else if (errno == EAGAIN) { /* somebody else made the pipe non-blocking */
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* A file that another program appends to as well is left alone: its end is not ours. */
static void take_back(const struct series *s, size_t torn)
{
	struct stat st;
	off_t at = lseek(s->fd, 0, SEEK_CUR);
	int unused;

	if (torn == 0 || !s->is_ours || at < 0 || fstat(s->fd, &st) < 0 || st.st_size != at)
		return;
	unused = ftruncate(s->fd, at - (off_t)torn);
	(void)unused;
}

static int flush_text(struct series *s)
{
	size_t written;
	int err = write_all(s->fd, s->text.data, s->text.len, &written);

	if (err < 0) {
		take_back(s, written);
		warn("cannot write '%s': %s; the series ends here", s->name, rt_strerror(err));
		s->failed = 1;
		series_close(s);
	}
	text_clear(&s->text);
	return err;
}

/* Whether a file that is appended to ends in the middle of a row, after a crash or a full disk. */
static int ends_torn(const char *name, off_t size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char last = '\n';

	if (fd < 0)
		return 0;
	if (pread(fd, &last, 1, size - 1) != 1)
		last = '\n';
	close(fd);
	return last != '\n';
}

static void write_head(struct series *s, const struct options *options, const struct subject *subject)
{
	struct stat st;
	int is_file = fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode);
	int goes_on = options->append && is_file && st.st_size > 0;

	/* A command may write to the same standard output at any time. */
	s->is_ours = is_file && (s->fd != STDOUT_FILENO || options->command->bit != FOR_RUN);
	if (goes_on && s->fd != STDOUT_FILENO && ends_torn(s->name, st.st_size))
		text_add(&s->text, "\n");
	if (!goes_on || s->format->heads_every_run)
		s->format->head(&s->text, subject);
	if (s->text.len > 0)
		flush_text(s);
}

/* The series of a command must be asked for, since standard output is the command's. The others write theirs there
 * unless somebody sits before it who did not ask for rows. */
static const char *choose_output(const struct options *options)
{
	if (options->output || options->command->bit == FOR_RUN)
		return options->output;
	return options->format || !isatty(STDOUT_FILENO) ? "-" : NULL;
}

int series_open(struct series *s, const struct options *options, const struct subject *subject)
{
	const char *name = choose_output(options);

	*s = (struct series){ .fd = -1 };
	if (!name)
		return 0;
	s->format = options->format ? options->format : format_by_file(name);
	s->name = strcmp(name, "-") == 0 ? "standard output" : name;
	s->fd = open_output(name, options->append);
	if (s->fd < 0)
		return -1;
	write_head(s, options, subject);
	return 0;
}

void series_write(struct series *s, const struct row *row)
{
	if (s->fd < 0)
		return;
	s->format->row(&s->text, row);
	if (flush_text(s) == 0)
		s->rows++;
}

/* Standard output is left open: others may have something to say there. */
void series_close(struct series *s)
{
	if (s->fd >= 0 && s->fd != STDOUT_FILENO && close(s->fd) < 0 && !s->failed) {
		warn("cannot write '%s': %s", s->name, rt_strerror(-errno));
		s->failed = 1;
	}
	s->fd = -1;
	text_free(&s->text);
}

int series_wants_system(const struct series *s)
{
	return s->fd >= 0 && s->format->wants_system;
}
