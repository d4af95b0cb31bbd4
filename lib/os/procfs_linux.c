/* SPDX-License-Identifier: MIT */
/* Access to proc and sys: the only code that makes system calls on their files. */
#include "os/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/open_in_root.h"

static int linux_open(int dirfd, const char *path, int flags)
{
	int fd;

	do {
		fd = openat(dirfd, path, flags | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static int linux_open_in_root(int root, const char *path, int flags)
{
	struct stat st;
	int fd;

	if (flags & (O_PATH | O_DIRECTORY))
		return rti_open_in_root(root, path, flags);
	fd = rti_open_in_root(root, path, flags | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return fd;
	close(fd);
	return -ENOENT;
}

static ssize_t linux_pread(int fd, void *buf, size_t len, off_t offset)
{
	ssize_t n;

	do {
		n = pread(fd, buf, len, offset);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t linux_getdents(int fd, void *buf, size_t len)
{
	long n = syscall(SYS_getdents64, fd, buf, len);

	return n < 0 ? -errno : (ssize_t)n;
}

static ssize_t linux_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	ssize_t n = readlinkat(dirfd, path, buf, len);

	return n < 0 ? -errno : n;
}

/* faccessat(2) is enough without flags. The C library calls faccessat2(2) first (Linux 5.8), which
 * older filters of system calls refuse. */
static int linux_access(int dirfd, const char *path)
{
	if (syscall(SYS_faccessat, dirfd, path, F_OK) == 0)
		return 0;
	return errno == ENOTDIR ? -ENOENT : -errno;
}

/* path begins with root. */
static int open_path_in_root(const char *root, const char *path)
{
	int fd, dir = linux_open(AT_FDCWD, root, O_PATH | O_DIRECTORY);

	if (dir < 0)
		return dir;
	fd = rti_open_in_root(dir, path + strlen(root), O_PATH);
	close(dir);
	return fd;
}

static int linux_space(const char *root, const char *path, struct rti_space *out)
{
	int err = 0, fd = root[0] ? open_path_in_root(root, path) : -1;
	struct statvfs fs;
	struct stat st;

	if (root[0] && fd < 0)
		return fd;
	if ((root[0] ? fstatvfs(fd, &fs) : statvfs(path, &fs)) < 0 ||
	    ((fs.f_fsid == 0 || fs.f_fsid != out->id) &&
	     (root[0] ? fstat(fd, &st) : stat(path, &st)) < 0))
		err = -errno;
	if (root[0])
		close(fd);
	if (err < 0)
		return err;
	if (fs.f_fsid == 0 || fs.f_fsid != out->id) {
		out->major = major(st.st_dev);
		out->minor = minor(st.st_dev);
	}
	out->id = fs.f_fsid;
	out->total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	out->free_bytes = (uint64_t)fs.f_bfree * fs.f_frsize;
	out->available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

static int64_t linux_size(int dirfd, const char *path)
{
	struct stat st;

	return fstatat(dirfd, path, &st, 0) < 0 ? -errno : st.st_size;
}

static int64_t linux_links(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? -errno : (int64_t)st.st_nlink;
}

static bool linux_has_changed(int fd)
{
	struct pollfd changes = { .fd = fd, .events = POLLPRI };

	return poll(&changes, 1, 0) != 0;
}

static bool linux_is_in_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == RTI_PROC_SUPER_MAGIC;
}

static int linux_close(int fd)
{
	return close(fd) < 0 ? -errno : 0;
}

const struct rti_procfs_ops rti_procfs_linux = {
	.open = linux_open,
	.open_in_root = linux_open_in_root,
	.pread = linux_pread,
	.getdents = linux_getdents,
	.readlink = linux_readlink,
	.access = linux_access,
	.space = linux_space,
	.size = linux_size,
	.links = linux_links,
	.has_changed = linux_has_changed,
	.is_in_proc = linux_is_in_proc,
	.close = linux_close,
};
