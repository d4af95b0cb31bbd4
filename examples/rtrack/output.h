/* SPDX-License-Identifier: MIT */
/* Writes rows to a file, a pipe or standard output, always whole rows. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

struct output {
	int fd;           /* negative: none, or it was closed after an error */
	const char *name; /* of the file */
	const char *what; /* what is written there, e.g. "series" */
	struct text text; /* the rows to write */
	/* It is a regular file that no other process writes to: a torn row can be removed. */
	bool is_exclusive;
	bool failed; /* rows could not be written */
};

/* Write the text and clear it. If it cannot be written in full, remove the row that was written in
 * part if that is possible, report the error and close the output. Returns 0 or a negative errno
 * value. */
int output_flush(struct output *o);

/* Close the output. Standard output and standard error stay open, because other code may write to
 * them. */
void output_close(struct output *o);

/* Open a file for writing; "-" is standard output. Returns the descriptor, or reports the error and
 * returns it as a negative errno value. */
int open_output(const char *name, bool append);

/* Write all the data. Sets *written to the number of bytes written, also on failure. Returns 0 or a
 * negative errno value. */
int write_all(int fd, const char *data, size_t len, size_t *written);

#endif
