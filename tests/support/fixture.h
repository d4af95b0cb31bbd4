/* SPDX-License-Identifier: MIT */
/* Temporary roots with a proc and a sys directory written by the test. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stddef.h>

struct fixture {
	char root[128]; /* absolute; for rt_opts.root */
};

/* Make an empty root with proc/ and sys/ in it. Fails the test if that is not possible. */
void fixture_new(struct fixture *f);

/* Remove the root with all that is in it. */
void fixture_free(struct fixture *f);

/* Make a root as a copy of tests/fixtures/NAME. */
void fixture_copy(struct fixture *f, const char *name);

/* Write a file below the root, and make its directories. An existing file is rewritten in place,
 * since a tracker may hold it open, as it does with those of the kernel. */
void fixture_write(struct fixture *f, const char *path, const char *text);
void fixture_write_bytes(struct fixture *f, const char *path, const void *data, size_t len);
void fixture_printf(struct fixture *f, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Make a symbolic link, or an empty directory, below the root. A link replaces one that is
 * there. */
void fixture_link(struct fixture *f, const char *path, const char *target);
void fixture_mkdir(struct fixture *f, const char *path);

/* Remove a file, or a directory with all that is in it. */
void fixture_remove(struct fixture *f, const char *path);

#endif
