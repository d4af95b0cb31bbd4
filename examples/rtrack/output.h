/* SPDX-License-Identifier: MIT */
/* Where rows go: a file, a pipe or standard output, always in whole rows. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

struct output {
	int fd;           /* -1: none, or it ended early */
	const char *name; /* of the file */
	const char *what; /* is written there: "series" */
	struct text text; /* the row that is being written */
	/* a regular file that nobody else writes to: a torn row can be taken back */
	bool is_exclusive;
	bool failed; /* rows could not be written */
};

/* Write what is in the text, all of it or nothing where that is in our power. The first failure
 * is told and ends the output. 0 or -errno. */
int output_flush(struct output *o);

/* Standard output is left open: others may have something to say there. */
void output_close(struct output *o);

/* Open a file for writing; "-" is standard output. The descriptor, or -1; the reason has been
 * told. */
int open_output(const char *name, bool append);

/* Write all of it. 0 or -errno; *written tells how far it came. */
int write_all(int fd, const char *data, size_t len, size_t *written);

#endif
