/* SPDX-License-Identifier: MIT */
/* Opens files below a directory as if that were "/": links do not lead out of it.
 *
 * openat2(2) does so since Linux 5.6. Before, a path is walked name by name, and no link is
 * followed by the kernel. A link is replaced by its text, and the walk begins again. So what is
 * renamed meanwhile can make the walk fail, but not lead out. */
#include "os/open_in_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"

#ifndef SYS_openat2
#define SYS_openat2 437 /* on every architecture */
#endif

#define LINKS_MAX 40 /* as the kernel has it (path_resolution(7)) */

/* A path and the name in it that the walk has come to. */
struct walk {
	size_t begin, end; /* of the name; before it stand directories, without links or ".." */
	int dir;           /* the last of these */
	char path[PATH_MAX];
	char target[PATH_MAX];
};

/* Begin at the root again, with so many bytes of the path before the name, text in its place, and
 * what follows it. Returns 0 or -errno. */
static int begin_again(struct walk *w, int root, size_t before, const char *text)
{
	size_t text_len = strlen(text), rest_len = strlen(w->path + w->end);

	if (before + text_len + rest_len >= sizeof(w->path))
		return -ENAMETOOLONG;
	memmove(w->path + before + text_len, w->path + w->end, rest_len + 1);
	memcpy(w->path + before, text, text_len);
	close(w->dir);
	w->dir = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	w->begin = w->end = 0;
	return w->dir < 0 ? -errno : 0;
}

/* Returns where the directory of the name stands in the path: "..", which leads there. */
static size_t parent_of_name(const struct walk *w)
{
	size_t at = w->begin;

	while (at > 0 && w->path[at - 1] == '/')
		at--;
	while (at > 0 && w->path[at - 1] != '/')
		at--;
	return at;
}

/* Returns a descriptor or -errno. */
static int walk(struct walk *w, int root, int flags)
{
	int links = 0, err = 0;

	while (err == 0) {
		char name[NAME_MAX + 1] = "."; /* zeroed behind it */
		ssize_t len = -1;
		bool is_last;
		int file;

		w->begin = w->end + strspn(w->path + w->end, "/");
		w->end = w->begin + strcspn(w->path + w->begin, "/");
		if (w->end - w->begin >= sizeof(name))
			return -ENAMETOOLONG;
		if (w->end > w->begin)
			memcpy(name, w->path + w->begin, w->end - w->begin);
		is_last = w->path[w->end + strspn(w->path + w->end, "/")] == '\0';
		if (strcmp(name, "..") == 0) {
			err = begin_again(w, root, parent_of_name(w), "");
			continue;
		}
		if (!is_last || !(flags & O_NOFOLLOW))
			len = readlinkat(w->dir, name, w->target, sizeof(w->target) - 1);
		if (len >= 0) {
			w->target[len] = '\0';
			err = ++links > LINKS_MAX
			          ? -ELOOP
			          : begin_again(w, root, w->target[0] == '/' ? 0 : w->begin,
			                        w->target);
			continue;
		}
		file = openat(w->dir, name,
		              O_NOFOLLOW | O_CLOEXEC | (is_last ? flags : O_PATH | O_DIRECTORY));
		if (file < 0 || is_last)
			return file < 0 ? -errno : file;
		close(w->dir);
		w->dir = file;
	}
	return err;
}

int rti_open_in_root_by_steps(int root, const char *path, int flags)
{
	struct walk *w;
	int result;

	if (path[0] == '\0' || strlen(path) >= sizeof(w->path))
		return path[0] ? -ENAMETOOLONG : -ENOENT;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->begin = w->end = 0;
	strcpy(w->path, path);
	w->dir = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	result = w->dir < 0 ? -errno : walk(w, root, flags);
	if (w->dir >= 0)
		close(w->dir);
	free(w);
	return result;
}

int rti_open_in_root(int root, const char *path, int flags)
{
	const struct rti_open_how how = { .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		                          .resolve = RTI_RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		return fd;
	/* EAGAIN: a directory on the way was renamed meanwhile. */
	return errno == ENOSYS || errno == EPERM || errno == EAGAIN || errno == EINTR
	           ? rti_open_in_root_by_steps(root, path, flags)
	           : -errno;
}
