/* SPDX-License-Identifier: MIT */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

#define PATH_SPACE 4096

static void format_path(char *out, const struct fixture *f, const char *path)
{
	ck_assert_int_lt(snprintf(out, PATH_SPACE, "%s/%s", f->root, path), PATH_SPACE);
}

static void make_parents(char *path, size_t root_len)
{
	for (char *slash = strchr(path + root_len + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

void fixture_new(struct fixture *f)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(f->root, sizeof(f->root), "%s/rtrack-fixture-XXXXXX",
	         tmp && strlen(tmp) < 64 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(f->root));
	fixture_mkdir(f, "proc");
	fixture_mkdir(f, "sys");
}

/* A file is emptied before it is removed. So a reader with an open descriptor sees that it was
 * removed, as with a file in /proc. A FIFO has no contents, and a program that is about to end
 * keeps those of its file (ETXTBSY). */
static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(st->st_mode) && truncate(path, 0) < 0 && errno != ETXTBSY)
		return -1;
	return remove(path);
}

void fixture_free(struct fixture *f)
{
	ck_assert_int_eq(nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void fixture_remove(struct fixture *f, const char *path)
{
	char full[PATH_SPACE];

	format_path(full, f, path);
	ck_assert_int_eq(nftw(full, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* nftw() has no argument for its callback. */
static struct fixture *copy_to;
static size_t copy_from_len;

static int copy_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *below = path + copy_from_len;
	char data[65536];
	ssize_t n;
	int fd;

	(void)ftw;
	while (*below == '/')
		below++;
	if (type == FTW_D && *below)
		fixture_mkdir(copy_to, below);
	if (type == FTW_SL) {
		n = readlink(path, data, sizeof(data) - 1);
		ck_assert_int_gt(n, 0);
		data[n] = '\0';
		fixture_link(copy_to, below, data);
	}
	if (type != FTW_F)
		return 0;
	ck_assert_int_le(st->st_size, (off_t)sizeof(data));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, data, sizeof(data));
	ck_assert_int_eq(n, st->st_size);
	close(fd);
	fixture_write_bytes(copy_to, below, data, (size_t)n);
	return 0;
}

void fixture_copy(struct fixture *f, const char *name)
{
	const char *source = getenv("RTRACK_SOURCE_ROOT");
	char from[PATH_SPACE];

	ck_assert_ptr_nonnull(source);
	ck_assert_int_lt(snprintf(from, sizeof(from), "%s/tests/fixtures/%s", source, name),
	                 PATH_SPACE);
	fixture_new(f);
	copy_to = f;
	copy_from_len = strlen(from);
	ck_assert_int_eq(nftw(from, copy_entry, 16, FTW_PHYS), 0);
}

void fixture_write_bytes(struct fixture *f, const char *path, const void *data, size_t len)
{
	char full[PATH_SPACE];
	int fd;

	format_path(full, f, path);
	make_parents(full, strlen(f->root));
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

void fixture_write(struct fixture *f, const char *path, const char *text)
{
	fixture_write_bytes(f, path, text, strlen(text));
}

void fixture_printf(struct fixture *f, const char *path, const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	ck_assert_int_ge(len, 0);
	fixture_write_bytes(f, path, text, (size_t)len);
	free(text);
}

void fixture_link(struct fixture *f, const char *path, const char *target)
{
	char full[PATH_SPACE];

	format_path(full, f, path);
	make_parents(full, strlen(f->root));
	unlink(full);
	ck_assert_int_eq(symlink(target, full), 0);
}

void fixture_mkdir(struct fixture *f, const char *path)
{
	char full[PATH_SPACE];

	format_path(full, f, path);
	make_parents(full, strlen(f->root));
	ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
}
