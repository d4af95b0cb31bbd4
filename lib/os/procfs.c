/* SPDX-License-Identifier: MIT */
/* Files of proc and sys below a root: opened, read whole, listed. */
#include "os/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "os/kernel_abi.h"
#include "util/decimal.h"
#include "util/visit.h"

#define FIRST_CAPACITY 4096
#define LARGEST_FILE ((size_t)64 << 20) /* no file of the kernel is larger */
#define NEAR_END 256
#define HALF_PAGE 2048
#define LINKS_ALONE 2    /* of a directory without directories: its name and its own "." */
#define LONGEST_NAME 160 /* of a file that is opened by its full name */

int rti_buf_reserve(struct rti_buf *buf, size_t len)
{
	size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
	char *data;

	if (len < buf->cap)
		return 0;
	while (cap <= len)
		cap *= 2;
	data = realloc(buf->data, cap);
	if (!data)
		return -ENOMEM;
	buf->data = data;
	buf->cap = cap;
	return 0;
}

void rti_buf_free(struct rti_buf *buf)
{
	free(buf->data);
	*buf = (struct rti_buf){ 0 };
}

/* Whether links are kept from leading out of another root. */
static bool is_confined(const struct rti_procfs *procfs)
{
	return procfs->is_foreign && procfs->ops->open_in_root;
}

static int open_below(const struct rti_procfs *procfs, int dirfd, const char *path, int flags)
{
	return is_confined(procfs) ? procfs->ops->open_in_root(dirfd, path, flags)
	                           : procfs->ops->open(dirfd, path, flags);
}

/* Open the three directories of a root. A missing /proc is an error; a missing /sys is not. Returns
 * 0 or -errno; the caller closes what was opened. */
static int open_bases(struct rti_procfs *procfs)
{
	static const char *const below[] = {
		[RTI_PROC] = "proc", [RTI_SYS] = "sys", [RTI_ROOT] = "."
	};
	int dir = procfs->ops->open(AT_FDCWD, procfs->is_foreign ? procfs->root : "/",
	                            O_PATH | O_DIRECTORY);

	if (dir < 0)
		return dir;
	procfs->fd[RTI_ROOT] = dir;
	for (int base = RTI_PROC; base <= RTI_SYS; base++) {
		procfs->fd[base] = open_below(procfs, dir, below[base], O_RDONLY | O_DIRECTORY);
		if (procfs->fd[base] < 0 && base == RTI_PROC)
			return procfs->fd[base];
	}
	/* If proc is not mounted, /proc is an empty directory. */
	return rti_procfs_access(procfs, RTI_PROC, "self") == -ENOENT &&
	               rti_procfs_access(procfs, RTI_PROC, "stat") == -ENOENT && !procfs->is_foreign
	           ? -ENOENT
	           : 0;
}

bool rti_is_out_of_files(int err)
{
	return err == -EMFILE || err == -ENFILE;
}

int rti_procfs_open(struct rti_procfs *procfs, const char *root, const struct rti_procfs_ops *ops)
{
	size_t len = root ? strlen(root) : 0;
	int err;

	while (len > 0 && root[len - 1] == '/')
		len--;
	*procfs = (struct rti_procfs){ .ops = ops, .fd = { -1, -1, -1 }, .is_foreign = len > 0 };
	procfs->root = malloc(len + 1);
	if (!procfs->root)
		return -ENOMEM;
	if (len)
		memcpy(procfs->root, root, len);
	procfs->root[len] = '\0';
	err = open_bases(procfs);
	if (err < 0)
		rti_procfs_close(procfs);
	return err;
}

void rti_procfs_close(struct rti_procfs *procfs)
{
	for (int base = RTI_PROC; base <= RTI_ROOT; base++) {
		if (procfs->fd[base] >= 0)
			procfs->ops->close(procfs->fd[base]);
		procfs->fd[base] = -1;
	}
	free(procfs->root);
	procfs->root = NULL;
}

void rti_procfs_use_names(struct rti_procfs *procfs, const struct rti_procfs_ops *ops)
{
	*procfs =
	    (struct rti_procfs){ .ops = ops, .fd = { AT_FDCWD, AT_FDCWD, -1 }, .is_by_name = true };
}

/* Where a path is looked up: below the open directory of its base, or by its full name, or below
 * another root, which its links may lead to. */
struct place {
	int dirfd;
	const char *path;
	char name[LONGEST_NAME];
};

static int find_place(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                      struct place *out)
{
	static const char *const prefixes[] = {
		[RTI_PROC] = "/proc/", [RTI_SYS] = "/sys/", [RTI_ROOT] = "/"
	};
	bool is_below_root = is_confined(procfs) && base != RTI_ROOT;
	size_t prefix_len, len;

	out->dirfd = procfs->fd[base];
	out->path = path;
	if (!procfs->is_by_name && (out->dirfd < 0 || !is_below_root))
		return out->dirfd < 0 ? -ENOENT : 0;
	if (is_below_root)
		out->dirfd = procfs->fd[RTI_ROOT];
	else if (out->dirfd != AT_FDCWD)
		return -ENOENT;
	prefix_len = strlen(prefixes[base]);
	len = strlen(path);
	if (prefix_len + len >= sizeof(out->name))
		return -ENAMETOOLONG;
	memcpy(out->name, prefixes[base], prefix_len);
	memcpy(out->name + prefix_len, path, len + 1);
	out->path = out->name;
	return 0;
}

static int open_at(const struct rti_procfs *procfs, enum rti_base base, const char *path, int flags)
{
	struct place place;
	int err = find_place(procfs, base, path, &place);

	return err < 0 ? err : open_below(procfs, place.dirfd, place.path, flags);
}

int rti_procfs_open_file(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                         struct rti_file *file)
{
	int fd = open_at(procfs, base, path, O_RDONLY);

	file->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* Returns true if the text has so many lines, or more. */
static bool has_lines(const struct rti_buf *buf, unsigned count)
{
	const char *at = buf->data, *end = at + buf->len;

	for (; count > 0 && (at = memchr(at, '\n', (size_t)(end - at))); at++)
		count--;
	return count == 0;
}

/* Returns true if a line near the end of the text begins so. */
static bool has_line_near_end(const struct rti_buf *buf, const char *begin)
{
	size_t tail = buf->len < NEAR_END ? buf->len : NEAR_END;

	return memmem(buf->data + buf->len - tail, tail, begin, strlen(begin)) != NULL;
}

/* Returns true if the text, which is not empty, has all that is wanted of its format, so that
 * nothing needs to follow. See Linux, fs/proc/array.c, proc_pid_status(), and fs/proc/task_mmu.c,
 * __show_smap(). */
static bool is_whole(enum rti_file_format format, const struct rti_buf *buf)
{
	if (buf->data[buf->len - 1] != '\n')
		return false;
	switch (format) {
	case RTI_ONE_LINE:
		return has_lines(buf, 1);
	case RTI_TWO_LINES:
		return has_lines(buf, 2);
	case RTI_SEVEN_LINES:
		return has_lines(buf, 7);
	case RTI_STATUS_LINES:
		return has_line_near_end(buf, "\nnonvoluntary_ctxt_switches:");
	case RTI_SMAPS_LINES:
		return has_line_near_end(buf, "\nLocked:");
	case RTI_SINGLE_RECORD:
	case RTI_SEQ_FILE:
	default:
		return false;
	}
}

/* Read all of a file. A short read is read on from where it ended: the kernel keeps what is left of
 * the record. is_in_proc: see struct rti_proc_file. Returns 0 or -errno. */
static int read_all(const struct rti_procfs *procfs, int fd, enum rti_file_format format,
                    bool is_in_proc, struct rti_buf *buf)
{
	int err = rti_buf_reserve(buf, 1);

	buf->len = 0;
	while (err == 0) {
		size_t room = buf->cap - 1 - buf->len;
		ssize_t n = procfs->ops->pread(fd, buf->data + buf->len, room, (off_t)buf->len);
		bool had_room_for_more;

		if (n < 0)
			return (int)n;
		buf->len += (size_t)n;
		buf->data[buf->len] = '\0';
		had_room_for_more =
		    buf->len <= HALF_PAGE && buf->cap - 1 - buf->len >= HALF_PAGE - 1;
		if (n == 0 || (is_in_proc && had_room_for_more) || is_whole(format, buf))
			return 0;
		if ((size_t)n < room)
			continue;
		/* Begin a single record again from the start: pieces of it that were read at two
		 * times would not be consistent. */
		if (buf->cap >= LARGEST_FILE)
			return -EFBIG;
		err = rti_buf_reserve(buf, buf->cap);
		if (err == 0 && format != RTI_SEQ_FILE)
			buf->len = 0;
	}
	return err;
}

int rti_procfs_read(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    enum rti_file_format format, struct rti_buf *buf)
{
	int fd = open_at(procfs, base, path, O_RDONLY);
	int err;

	buf->len = 0;
	if (fd < 0)
		return fd;
	err = read_all(procfs, fd, format, false, buf);
	procfs->ops->close(fd);
	return err;
}

static int read_if_open(const struct rti_procfs *procfs, enum rti_file_format format,
                        bool is_in_proc, struct rti_file *file, struct rti_buf *buf)
{
	int err = file->fd < 0 ? -EBADF : read_all(procfs, file->fd, format, is_in_proc, buf);

	if (err == 0)
		return 0;
	rti_procfs_close_file(procfs, file);
	/* The files of lxcfs and the like cannot seek back to the start. */
	return err == -ESPIPE || err == -EINVAL ? -EBADF : err;
}

int rti_procfs_read_if_open(const struct rti_procfs *procfs, enum rti_file_format format,
                            struct rti_file *file, struct rti_buf *buf)
{
	return read_if_open(procfs, format, false, file, buf);
}

static int open_and_read(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                         enum rti_file_format format, struct rti_file *file, struct rti_buf *buf)
{
	int err;

	buf->len = 0;
	err = rti_procfs_open_file(procfs, base, path, file);
	if (err < 0)
		return err;
	err = read_all(procfs, file->fd, format, false, buf);
	if (err < 0)
		rti_procfs_close_file(procfs, file);
	return err;
}

int rti_procfs_read_cached(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                           enum rti_file_format format, struct rti_file *file, struct rti_buf *buf)
{
	int err = rti_procfs_read_if_open(procfs, format, file, buf);

	return err == -EBADF ? open_and_read(procfs, base, path, format, file, buf) : err;
}

int rti_procfs_read_proc_file(const struct rti_procfs *procfs, const char *path,
                              enum rti_file_format format, struct rti_proc_file *file,
                              struct rti_buf *buf)
{
	int err = read_if_open(procfs, format, file->is_in_proc, &file->file, buf);

	if (err != -EBADF)
		return err;
	err = open_and_read(procfs, RTI_PROC, path, format, &file->file, buf);
	file->is_in_proc =
	    err == 0 && procfs->ops->is_in_proc && procfs->ops->is_in_proc(file->file.fd);
	return err;
}

void rti_procfs_close_file(const struct rti_procfs *procfs, struct rti_file *file)
{
	if (file->fd >= 0)
		procfs->ops->close(file->fd);
	file->fd = -1;
}

int rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path)
{
	struct place place;
	int err = find_place(procfs, base, path, &place), fd;

	if (err < 0 || !is_confined(procfs))
		return err < 0 ? err : procfs->ops->access(place.dirfd, place.path);
	fd = open_below(procfs, place.dirfd, place.path, O_PATH);
	if (fd < 0)
		return fd == -ENOTDIR ? -ENOENT : fd;
	procfs->ops->close(fd);
	return 0;
}

ssize_t rti_procfs_readlink(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                            char *out, size_t out_size)
{
	struct place place;
	ssize_t n = find_place(procfs, base, path, &place);

	int fd;

	if (n == 0 && is_confined(procfs)) {
		fd = open_below(procfs, place.dirfd, place.path, O_PATH | O_NOFOLLOW);
		n = fd < 0 ? fd : procfs->ops->readlink(fd, "", out, out_size - 1);
		if (fd >= 0)
			procfs->ops->close(fd);
	} else if (n == 0) {
		n = procfs->ops->readlink(place.dirfd, place.path, out, out_size - 1);
	}
	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* Which entries of a directory are wanted, and where they go. */
struct list {
	bool is_of_directories; /* a file system may not say whether an entry is one */
	int (*each)(void *arg, const char *name);
	void *arg;
};

static int list_entries(const char *entries, size_t len, const struct list *list)
{
	for (size_t at = 0; at < len;) {
		const struct rti_dirent *entry = (const void *)(entries + at);
		bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
		bool may_be_directory = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
		int result = RTI_CONTINUE;

		if (!is_dots && (may_be_directory || !list->is_of_directories))
			result = list->each(list->arg, entry->d_name);
		if (result != RTI_CONTINUE)
			return result;
		at += entry->d_reclen;
	}
	return RTI_CONTINUE;
}

/* Takes fd. */
static int list_consume(const struct rti_procfs *procfs, int fd, const struct list *list)
{
	/* On the stack of the host's thread, which may have 16 KiB in all. */
	_Alignas(struct rti_dirent) char entries[2048];
	int result = RTI_CONTINUE;

	if (fd < 0)
		return fd;
	while (result == RTI_CONTINUE) {
		ssize_t n = procfs->ops->getdents(fd, entries, sizeof(entries));

		if (n <= 0) {
			result = (int)n;
			break;
		}
		result = list_entries(entries, (size_t)n, list);
	}
	procfs->ops->close(fd);
	return result;
}

uint64_t rti_procfs_count_descriptors(const struct rti_procfs *procfs, int32_t pid)
{
	struct rti_path path = rti_pid_path(pid, "fd");
	struct place place;
	int64_t count;

	if (procfs->is_foreign || !procfs->ops->size ||
	    find_place(procfs, RTI_PROC, path.text, &place) < 0)
		return 0;
	count = procfs->ops->size(place.dirfd, place.path);
	return count > 0 ? (uint64_t)count : 0;
}

uint64_t rti_procfs_count_links(const struct rti_procfs *procfs, enum rti_base base)
{
	int64_t count;

	if (procfs->is_by_name || procfs->fd[base] < 0 || !procfs->ops->links)
		return 0;
	count = procfs->ops->links(procfs->fd[base]);
	return count > 0 ? (uint64_t)count : 0;
}

int rti_procfs_list_dirs(const struct rti_procfs *procfs, enum rti_base base,
                         int (*each)(void *arg, const char *name), void *arg)
{
	struct list list = { .is_of_directories = true, .each = each, .arg = arg };

	return list_consume(procfs, open_at(procfs, base, ".", O_RDONLY | O_DIRECTORY), &list);
}

int rti_procfs_list(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    int (*each)(void *arg, const char *name), void *arg)
{
	struct list list = { .each = each, .arg = arg };

	return list_consume(procfs, open_at(procfs, base, path, O_RDONLY | O_DIRECTORY), &list);
}

int rti_procfs_list_cgroups(const struct rti_procfs *procfs, const char *path,
                            int (*each)(void *arg, const char *name), void *arg)
{
	struct list list = { .is_of_directories = true, .each = each, .arg = arg };
	int fd = open_at(procfs, RTI_ROOT, path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0 && procfs->ops->links && procfs->ops->links(fd) == LINKS_ALONE) {
		procfs->ops->close(fd);
		return RTI_CONTINUE;
	}
	return list_consume(procfs, fd, &list);
}

int rti_procfs_open_dir(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                        struct rti_file *dir)
{
	int fd = open_at(procfs, base, path, O_PATH | O_DIRECTORY);

	dir->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

int rti_procfs_list_dirs_in(const struct rti_procfs *procfs, const struct rti_file *dir,
                            const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	struct list list = { .is_of_directories = true, .each = each, .arg = arg };

	return list_consume(procfs, open_below(procfs, dir->fd, path, O_RDONLY | O_DIRECTORY),
	                    &list);
}

/* The names of a path are confined to its directory below another root, ".." too. So climb first.
 * Returns a descriptor of the directory, or -errno. */
static int open_above(const struct rti_procfs *procfs, int dir, unsigned levels)
{
	int fd = procfs->ops->open(dir, ".", O_PATH | O_DIRECTORY);

	for (; fd >= 0 && levels > 0; levels--) {
		int below = fd;

		fd = procfs->ops->open(below, "..", O_PATH | O_DIRECTORY);
		procfs->ops->close(below);
	}
	return fd;
}

int rti_procfs_read_above(const struct rti_procfs *procfs, const struct rti_file *dir,
                          unsigned levels, const char *path, enum rti_file_format format,
                          struct rti_file *file, struct rti_buf *buf)
{
	int err = rti_procfs_read_if_open(procfs, format, file, buf);
	int above = -1;

	if (err != -EBADF)
		return err;
	buf->len = 0;
	if (levels > 0)
		above = open_above(procfs, dir->fd, levels);
	if (levels > 0 && above < 0)
		return above;
	file->fd = open_below(procfs, levels > 0 ? above : dir->fd, path, O_RDONLY);
	if (above >= 0)
		procfs->ops->close(above);
	if (file->fd < 0) {
		err = file->fd;
		file->fd = -1;
		return err;
	}
	err = read_all(procfs, file->fd, format, false, buf);
	if (err < 0)
		rti_procfs_close_file(procfs, file);
	return err;
}

int rti_procfs_read_in(const struct rti_procfs *procfs, const struct rti_file *dir,
                       const char *path, enum rti_file_format format, struct rti_file *file,
                       struct rti_buf *buf)
{
	return rti_procfs_read_above(procfs, dir, 0, path, format, file, buf);
}

bool rti_procfs_has_changed(const struct rti_procfs *procfs, const struct rti_file *file)
{
	return file->fd < 0 || procfs->is_foreign || !procfs->ops->has_changed ||
	       procfs->ops->has_changed(file->fd);
}

/* --- Paths below /proc and /sys. --- */

/* Returns the address of the NUL. */
static char *append_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len + 1);
	return at + len;
}

struct rti_path rti_pid_path(int32_t pid, const char *file)
{
	struct rti_path path;
	char *at = rti_decimal(path.text, (uint32_t)pid);

	*at++ = '/';
	append_text(at, file);
	return path;
}

struct rti_path rti_task_path(int32_t pid, int32_t tid, const char *file)
{
	struct rti_path path;
	char *at = rti_decimal(path.text, (uint32_t)pid);

	at = append_text(at, "/task/");
	at = rti_decimal(at, (uint32_t)tid);
	*at++ = '/';
	append_text(at, file);
	return path;
}

struct rti_path rti_class_path(const char *class, const char *name, const char *file)
{
	struct rti_path path;
	char *at = append_text(append_text(append_text(path.text, "class/"), class), "/");

	for (; *name; name++)
		*at++ = *name == '/' ? '!' : *name;
	*at++ = '/';
	append_text(at, file);
	return path;
}

int32_t rti_path_number(const char *name)
{
	int64_t number = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return 0;
		number = number * 10 + (*name - '0');
		if (number > INT32_MAX)
			return 0;
	}
	return (int32_t)number;
}
