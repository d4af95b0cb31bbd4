/* SPDX-License-Identifier: MIT */
/* Writes rows to a file, a pipe or standard output, always whole rows. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

struct output {
	int fd;           /* negative: none, or it was closed after an error */
	const char *name; /* of the file */
	const char *what; /* what is written there, e.g. "series" */
	struct text text; /* the rows to write */
	/* It is a regular file that no other process writes to: a torn row can be removed. */
	bool is_exclusive;
	bool is_new;    /* output_open() has made the file, and nothing was written to it yet */
	bool is_append; /* the content is kept */
	bool has_begun;
	bool failed;  /* rows could not be written */
	bool is_torn; /* a row was written in part, and that part could not be removed */
};

/* Open a file for writing; "-" is standard output. The file keeps its content until output_begin(),
 * so that a command that cannot be started costs nothing. Returns 0, or reports the error and
 * returns it as a negative errno value. */
int output_open(struct output *o, const char *name, const char *what, bool append);

/* Remove the old content, unless the file was opened to append. */
void output_begin(struct output *o);

/* Returns true if both write to the same file, pipe or terminal, by whatever name. Devices that
 * forget what is written to them, such as /dev/null, do not count. */
bool output_is_same(const struct output *a, const struct output *b);

/* Write the text and clear it. If it cannot be written in full, remove the row that was written in
 * part if that is possible, report the error and close the output. Returns 0 or a negative errno
 * value. */
int output_flush(struct output *o);

/* Close the output. Standard output and standard error stay open, because other code may write to
 * them. Remove the file if output_open() has made it and nothing was begun. */
void output_close(struct output *o);

/* Write all the data. Sets *written to the number of bytes written, also on failure. Returns 0 or a
 * negative errno value. */
int write_all(int fd, const char *data, size_t len, size_t *written);

#endif
