/* SPDX-License-Identifier: MIT */
/* Writes rows to a file, a pipe or standard output, always whole rows. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "message.h"

int open_output(const char *name, bool append)
{
	int fd, err;

	if (strcmp(name, "-") == 0)
		return STDOUT_FILENO;
	do {
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC),
		          0666);
	} while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		return fd;
	err = -errno;
	warn("cannot open '%s': %s", name, rt_strerror(err));
	return err;
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

/* Remove the part of a row that was written before an error. Do nothing if another program appends
 * to the same file: then the end of the file is not ours. */
static void remove_torn_row(const struct output *o, size_t torn)
{
	struct stat st;
	off_t at = lseek(o->fd, 0, SEEK_CUR);
	int unused;

	if (torn == 0 || !o->is_exclusive || at < 0 || fstat(o->fd, &st) < 0 || st.st_size != at)
		return;
	unused = ftruncate(o->fd, at - (off_t)torn);
	(void)unused;
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
	size_t written;
	int err = write_all(o->fd, o->text.data, o->text.len, &written);

	if (err < 0) {
		remove_torn_row(o, torn_part(o->text.data, written));
		warn("cannot write '%s': %s; the %s ends here", o->name, rt_strerror(err), o->what);
		o->failed = true;
		output_close(o);
	}
	text_clear(&o->text);
	return err;
}

void output_close(struct output *o)
{
	if (o->fd > STDERR_FILENO && close(o->fd) < 0 && !o->failed) {
		warn("cannot write '%s': %s", o->name, rt_strerror(-errno));
		o->failed = true;
	}
	o->fd = -1;
	text_free(&o->text);
}
