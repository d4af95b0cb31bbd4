/* SPDX-License-Identifier: MIT */
#include "memory_files.h"

#include <dirent.h>
#include <fcntl.h>

#define FILES_MAX 32
#define FDS_MAX 256
#define PATH_BYTES 4096
#define FIRST_FD 100 /* so that none is mistaken for a number of another kind */

bool (*memory_files_has_directory)(const char *path);
const char *memory_files_self;

static struct {
	const char *path, *text;
	size_t len;
} files[FILES_MAX];
static size_t file_count;

static struct {
	bool is_open, is_listed;
	int file; /* -1: a directory */
	char path[PATH_BYTES];
} fds[FDS_MAX];
static int fd_limit; /* none from here on has been open */

void memory_files_begin(void)
{
	file_count = 0;
	memory_files_has_directory = NULL;
	memory_files_self = NULL;
	for (int i = 0; i < fd_limit; i++)
		fds[i].is_open = false;
	fd_limit = 0;
}

static int find_file(const char *path)
{
	for (size_t i = 0; i < file_count; i++)
		if (strcmp(files[i].path, path) == 0)
			return (int)i;
	return -1;
}

void memory_files_set(const char *path, const char *text, size_t len)
{
	int i = find_file(path);

	if (i < 0) {
		require(file_count < FILES_MAX);
		i = (int)file_count++;
	}
	files[i].path = path;
	files[i].text = text;
	files[i].len = len;
}

unsigned memory_files_open(void)
{
	unsigned count = 0;

	for (int i = 0; i < fd_limit; i++)
		count += fds[i].is_open;
	return count;
}

static bool is_directory(const char *path)
{
	size_t len = strlen(path);

	if (len == 1)
		return true;
	for (size_t i = 0; i < file_count; i++)
		if (strncmp(files[i].path, path, len) == 0 && files[i].path[len] == '/')
			return true;
	return memory_files_has_directory && memory_files_has_directory(path);
}

/* The path from the root, without "." and doubled slashes. Returns false if it is too long. */
static bool make_path(int dirfd, const char *path, char out[PATH_BYTES])
{
	size_t len = 0;

	if (dirfd >= FIRST_FD) {
		require(dirfd - FIRST_FD < fd_limit && fds[dirfd - FIRST_FD].is_open);
		len = strlen(fds[dirfd - FIRST_FD].path);
		memcpy(out, fds[dirfd - FIRST_FD].path, len);
	}
	while (*path) {
		size_t part = strcspn(path, "/");

		if (part > 0 && !(part == 1 && *path == '.')) {
			if (len + part + 2 > PATH_BYTES)
				return false;
			if (len == 0 || out[len - 1] != '/')
				out[len++] = '/';
			memcpy(out + len, path, part);
			len += part;
		}
		path += part + (path[part] == '/');
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return true;
}

static int memory_open(int dirfd, const char *path, int flags)
{
	static char whole[PATH_BYTES];
	int fd = 0, file;

	(void)flags;
	if (!make_path(dirfd, path, whole))
		return -ENAMETOOLONG;
	file = find_file(whole);
	if (file < 0 && !is_directory(whole))
		return -ENOENT;
	while (fd < fd_limit && fds[fd].is_open)
		fd++;
	require(fd < FDS_MAX);
	if (fd == fd_limit)
		fd_limit++;
	fds[fd].is_open = true;
	fds[fd].is_listed = false;
	fds[fd].file = file;
	memcpy(fds[fd].path, whole, strlen(whole) + 1);
	return fd + FIRST_FD;
}

static ssize_t memory_pread(int fd, void *buf, size_t len, off_t offset)
{
	int file;

	require(fd >= FIRST_FD && fds[fd - FIRST_FD].is_open);
	file = fds[fd - FIRST_FD].file;
	if (file < 0)
		return -EISDIR;
	if ((size_t)offset >= files[file].len)
		return 0;
	if (len > files[file].len - (size_t)offset)
		len = files[file].len - (size_t)offset;
	memcpy(buf, files[file].text + offset, len);
	return (ssize_t)len;
}

/* Returns the length of the entry below a directory that a file is in, or 0 if it is elsewhere, or
 * in the same as a file before. */
static size_t new_entry(const char *dir, size_t file)
{
	size_t len = strlen(dir), entry_len;

	if (strncmp(files[file].path, dir, len) != 0 || files[file].path[len] != '/')
		return 0;
	entry_len = strcspn(files[file].path + len + 1, "/");
	for (size_t i = 0; i < file; i++)
		if (strncmp(files[i].path, files[file].path, len + 1 + entry_len) == 0 &&
		    strcspn(files[i].path + len + 1, "/") == entry_len)
			return 0;
	return entry_len;
}

/* All entries at once, and then none. */
static ssize_t memory_getdents(int fd, void *buf, size_t len)
{
	const char *dir;
	char *at = buf;

	require(fd >= FIRST_FD && fds[fd - FIRST_FD].is_open && len >= 32 * FILES_MAX);
	dir = fds[fd - FIRST_FD].path;
	for (size_t i = 0; i < file_count && !fds[fd - FIRST_FD].is_listed; i++) {
		struct dirent64 *entry = (void *)at;
		size_t entry_len = new_entry(dir, i);

		if (entry_len == 0 || entry_len > 8)
			continue;
		memset(entry, 0, 32);
		entry->d_reclen = 32;
		entry->d_type = DT_DIR;
		memcpy(entry->d_name, files[i].path + strlen(dir) + 1, entry_len);
		at += entry->d_reclen;
	}
	fds[fd - FIRST_FD].is_listed = true;
	return at - (char *)buf;
}

static ssize_t memory_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	size_t target_len = memory_files_self ? strlen(memory_files_self) : 0;

	(void)dirfd;
	if (strcmp(path, "self") != 0 || !memory_files_self)
		return -ENOENT;
	if (target_len > len)
		target_len = len;
	memcpy(buf, memory_files_self, target_len);
	return (ssize_t)target_len;
}

static int memory_access(int dirfd, const char *path)
{
	static char whole[PATH_BYTES];

	if (strcmp(path, "self") == 0)
		return 0;
	if (!make_path(dirfd, path, whole))
		return -ENAMETOOLONG;
	return find_file(whole) >= 0 || is_directory(whole) ? 0 : -ENOENT;
}

static int memory_space(const char *root, const char *path, struct rti_space *out)
{
	(void)root;
	(void)path;
	(void)out;
	return -ENOENT;
}

static int memory_close(int fd)
{
	require(fd >= FIRST_FD && fd - FIRST_FD < fd_limit && fds[fd - FIRST_FD].is_open);
	fds[fd - FIRST_FD].is_open = false;
	return 0;
}

const struct rti_procfs_ops memory_files = {
	.open = memory_open,
	.pread = memory_pread,
	.getdents = memory_getdents,
	.readlink = memory_readlink,
	.access = memory_access,
	.space = memory_space,
	.close = memory_close,
};
