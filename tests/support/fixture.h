/* SPDX-License-Identifier: MIT */
/* Temporary roots with a proc and a sys of our own making. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stddef.h>

struct fixture {
	char root[128]; /* absolute; goes into rt_opts.root */
};

/* An empty root with proc/ and sys/ in it. Fails the test when it cannot be made. */
void fixture_new(struct fixture *f);

/* Remove it with all that is in it. */
void fixture_free(struct fixture *f);

/* A root that starts as a copy of tests/fixtures/<name>. */
void fixture_copy(struct fixture *f, const char *name);

/* Write a file below the root, making its directories. An existing file is rewritten in place,
 * since a tracker may hold it open, as the kernel's files are. */
void fixture_write(struct fixture *f, const char *path, const char *text);
void fixture_write_bytes(struct fixture *f, const char *path, const void *data, size_t len);
void fixture_printf(struct fixture *f, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Make a symbolic link, or an empty directory, below the root. */
void fixture_link(struct fixture *f, const char *path, const char *target);
void fixture_mkdir(struct fixture *f, const char *path);

/* Remove a file, or a directory with all that is in it. */
void fixture_remove(struct fixture *f, const char *path);

#endif
