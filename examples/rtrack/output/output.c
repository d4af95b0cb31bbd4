/* SPDX-License-Identifier: MIT */
/* Writes rows to a file, a pipe or standard output, always whole rows. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "text/message.h"

/* Open a file that exists, or make it. */
static int open_or_make(const char *name, int flags, bool *is_new)
{
	int fd = open(name, flags);

	*is_new = fd < 0 && errno == ENOENT;
	return *is_new ? open(name, flags | O_CREAT, 0666) : fd;
}

/* Remove a file that open_or_make() has made. A symbolic link to it stays. Another process may have
 * made or filled it meanwhile, so only an empty file is removed. */
static void remove_new(const char *name)
{
	char *path = realpath(name, NULL);
	struct stat st;

	if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		unlink(path);
	free(path);
}

int output_open(struct output *o, const char *name, const char *what, bool append)
{
	int flags = O_WRONLY | O_CLOEXEC | (append ? O_APPEND : 0), err;
	struct stat st;

	*o = (struct output){ .fd = STDOUT_FILENO, .name = name, .what = what };
	o->is_append = append;
	if (strcmp(name, "-") == 0) {
		o->name = "standard output";
		return 0;
	}
	do {
		o->fd = open_or_make(name, flags, &o->is_new);
	} while (o->fd < 0 && errno == EINTR);
	if (o->fd >= 0) {
		o->is_exclusive = fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
		return 0;
	}
	err = -errno;
	warn("cannot open '%s': %s", name, error_words(err));
	return err;
}

void output_begin(struct output *o)
{
	struct stat st;
	int unused;

	if (o->fd > STDERR_FILENO && !o->has_begun && !o->is_append && fstat(o->fd, &st) == 0 &&
	    S_ISREG(st.st_mode)) {
		unused = ftruncate(o->fd, 0);
		(void)unused;
	}
	o->has_begun = true;
	o->is_new = false;
}

/* /dev/null, /dev/zero and /dev/full */
static bool forgets_writes(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1;
}

bool output_is_same(const struct output *a, const struct output *b)
{
	struct stat x, y;

	if (a->fd < 0 || b->fd < 0 || fstat(a->fd, &x) < 0 || fstat(b->fd, &y) < 0)
		return false;
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino && !forgets_writes(&x);
}

int write_all(int fd, const char *data, size_t len, size_t *written)
{
	*written = 0;
	while (*written < len) {
		ssize_t n = write(fd, data + *written, len - *written);

		if (n >= 0) {
			*written += (size_t)n;
		} else if (errno == EAGAIN) { /* another process made the pipe non-blocking */
			struct pollfd wait = { .fd = fd, .events = POLLOUT };

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* Remove the part of a row that was written before an error. Returns true if none is left. Does
 * nothing if another program appends to the same file: then the end of the file is not ours. */
static bool remove_torn_row(const struct output *o, size_t torn)
{
	struct stat st;
	off_t at = lseek(o->fd, 0, SEEK_CUR);

	if (torn == 0)
		return true;
	if (!o->is_exclusive || at < 0 || fstat(o->fd, &st) < 0 || st.st_size != at)
		return false;
	return ftruncate(o->fd, at - (off_t)torn) == 0;
}

/* Returns how many bytes of the written ones follow the last whole row. */
static size_t torn_part(const char *data, size_t written)
{
	size_t torn = 0;

	while (torn < written && data[written - torn - 1] != '\n')
		torn++;
	return torn;
}

int output_flush(struct output *o)
{
	const char *quote = o->fd == STDOUT_FILENO ? "" : "'";
	size_t written = 0;
	int err = o->text.is_short ? -ENOMEM : 0;

	if (err == 0)
		err = write_all(o->fd, o->text.data, o->text.len, &written);
	if (err < 0) {
		o->is_torn = !remove_torn_row(o, torn_part(o->text.data, written));
		/* A reader that has enough is no trouble. E.g.: rtrack system | head. */
		if (err != -EPIPE || o->fd != STDOUT_FILENO)
			warn("cannot write %s%s%s: %s; the %s ends here", quote, o->name, quote,
			     error_words(err), o->what);
		o->failed = true;
		output_close(o);
	}
	text_clear(&o->text);
	return err;
}

void output_close(struct output *o)
{
	if (o->fd > STDERR_FILENO && close(o->fd) < 0 && !o->failed) {
		warn("cannot write '%s': %s", o->name, error_words(-errno));
		o->failed = true;
	}
	if (o->is_new)
		remove_new(o->name);
	o->is_new = false;
	o->fd = -1;
	text_free(&o->text);
}
