/* SPDX-License-Identifier: MIT */
/* Access to proc and sys below a root: the only code that makes system calls on their files.
 *
 * Every descriptor is close-on-exec. Below another root than "/", links do not lead out of it, and
 * what is neither a regular file nor a directory, such as a FIFO, is -ENOENT. */
#ifndef RTI_PROCFS_H
#define RTI_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rti_base { RTI_PROC, RTI_SYS, RTI_ROOT };

/* A byte buffer that grows and is reused. Invariant: after a read, data[len] is '\0'. */
struct rti_buf {
	char *data;
	size_t len, cap;
};

struct rti_space {
	uint64_t total_bytes, free_bytes, available_bytes;
	uint32_t major, minor; /* of the file system that the path leads to; 0:0 is unknown */
	uint64_t id;           /* of that file system, as statfs(2) has it; 0: none */
};

/* The file calls. Tests replace them to get EACCES as root, short reads, and files that vanish
 * between two reads. All return -errno on failure. */
struct rti_procfs_ops {
	int (*open)(int dirfd, const char *path, int flags);
	/* The same below another root, see os/open_in_root.h. NULL: open(), and links may lead out
	 * of the root. */
	int (*open_in_root)(int root, const char *path, int flags);
	ssize_t (*pread)(int fd, void *buf, size_t len, off_t offset);
	ssize_t (*getdents)(int fd, void *buf, size_t len);
	ssize_t (*readlink)(int dirfd, const char *path, char *buf, size_t len);
	int (*access)(int dirfd, const char *path);
	/* path begins with root, which is "" for "/". If out->id is the id of the file system
	 * before the call, its device is not asked for again: major and minor stay the same. */
	int (*space)(const char *root, const char *path, struct rti_space *out);
	/* Returns the size of a file, as stat(2) has it. NULL: unknown. */
	int64_t (*size)(int dirfd, const char *path);
	/* Returns the number of links of an open directory, as fstat(2) has it. NULL: unknown. */
	int64_t (*links)(int fd);
	/* Returns true if a file that reports changes by poll(2) has changed since the last call.
	 * NULL: assume that it has. */
	bool (*has_changed)(int fd);
	/* Returns true if a file is one of proc(5), and not of a file system that covers it. NULL:
	 * unknown. */
	bool (*is_in_proc)(int fd);
	int (*close)(int fd);
};

extern const struct rti_procfs_ops rti_procfs_linux;

/* A root and its three directories. Owned by a tracker, which owns the descriptors with it.
 * Invariant: a cached descriptor (struct rti_file) belongs to the code that opened it, which
 * closes it before the procfs is closed. */
struct rti_procfs {
	const struct rti_procfs_ops *ops;
	int fd[3];       /* by enum rti_base; -1 if absent (RTI_SYS only) */
	bool is_foreign; /* the root is not "/" */
	bool is_by_name; /* no directory is open: each file is opened by its full name */
	char *root;      /* without a trailing slash; "" for "/" */
};

/* A cached descriptor of a file that is read again and again. fd is -1 while closed. */
struct rti_file {
	int fd;
};

/* The same of a file in proc that has one record, or records of less than 2 KiB. */
struct rti_proc_file {
	struct rti_file file;
	bool is_in_proc; /* and not of a file system that covers proc */
};

#define RTI_PROC_FILE_INIT                                                                         \
	{                                                                                          \
		RTI_FILE_INIT, false                                                               \
	}

#define RTI_FILE_INIT                                                                              \
	{                                                                                          \
		-1                                                                                 \
	}

/* How the kernel delivers a file, which decides when a read has all of it. A read that returns less
 * than there is room for may be a short one. E.g.: of a file system in user space that covers a
 * file of /proc. So a file is read until nothing is left, which costs 0.1 us, or until it has the
 * lines that it has by its format.
 *
 * E.g.: `statm` is one line, so it is whole once it ends in a newline. A file with fewer lines than
 * expected, as of an older kernel, is read to its end. */
enum rti_file_format {
	RTI_SINGLE_RECORD, /* one record: if the buffer is too small, it is read from the start */
	RTI_ONE_LINE,      /* as a single record of so many lines, or more */
	RTI_TWO_LINES,
	RTI_SEVEN_LINES,
	RTI_STATUS_LINES, /* as a single record with the last lines of `status`, `smaps_rollup` */
	RTI_SMAPS_LINES,
	RTI_SEQ_FILE /* many records: a read stops before one that does not fit in a page */
};

/* Whether an error is a shortage of descriptors, in this process or in the system. */
bool rti_is_out_of_files(int err);

/* Open proc and sys below root. NULL or "" is "/". Returns 0 or -errno: -ENOENT if there is no
 * proc file system. A missing /sys is not an error. On failure nothing stays open. */
int rti_procfs_open(struct rti_procfs *procfs, const char *root, const struct rti_procfs_ops *ops);
void rti_procfs_close(struct rti_procfs *procfs);

/* Use proc and sys of "/" without opening them, for a call that reads a few files once. Cannot
 * fail, and needs no close. A proc that is not mounted shows as files that do not exist.
 *
 * E.g.: to open and close a directory takes 1.3 us, to look up /proc in each path 0.1 us. */
void rti_procfs_use_names(struct rti_procfs *procfs, const struct rti_procfs_ops *ops);

/* Open a file, read all of it into buf and close it. Returns 0 or -errno. */
int rti_procfs_read(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    enum rti_file_format format, struct rti_buf *buf);

/* Read a file through a cached descriptor. Opens it if it is closed, and opens it again if it
 * cannot seek. The file stays open on success and is closed on failure. Returns 0 or -errno. */
int rti_procfs_read_cached(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                           enum rti_file_format format, struct rti_file *file, struct rti_buf *buf);

/* As rti_procfs_read_cached(), below /proc. A text of up to half a page takes one read if it comes
 * from proc itself: what is left of a text there would have fitted (Linux, fs/seq_file.c,
 * seq_read_iter()). E.g.: to find that nothing follows the disks in `diskstats` takes 0.5 us. */
int rti_procfs_read_proc_file(const struct rti_procfs *procfs, const char *path,
                              enum rti_file_format format, struct rti_proc_file *file,
                              struct rti_buf *buf);

/* Read a file through a cached descriptor that is open already. Returns 0 or -errno: -EBADF if
 * the file must be opened, for the first time or again. */
int rti_procfs_read_if_open(const struct rti_procfs *procfs, enum rti_file_format format,
                            struct rti_file *file, struct rti_buf *buf);

/* Open a file without reading it, to be read later through the descriptor. Returns 0 or -errno. */
int rti_procfs_open_file(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                         struct rti_file *file);

void rti_procfs_close_file(const struct rti_procfs *procfs, struct rti_file *file);

/* Check whether a file exists. Returns 0 if it does, -ENOENT if not, or another -errno. */
int rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path);

/* Read the target of a symbolic link. It is cut to fit and ends in NUL. Returns its length or
 * -errno. */
ssize_t rti_procfs_readlink(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                            char *out, size_t out_size);

/* Call each() for every name in a directory except "." and "..". What each() returns is described
 * in util/visit.h. Returns 0, what stopped the list, or -errno. */
int rti_procfs_list(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    int (*each)(void *arg, const char *name), void *arg);

/* Returns how many descriptors a process has open, or 0 if that is unknown: before Linux 6.2, and
 * below another root, which may be a copy. Costs one system call. See Linux, fs/proc/fd.c,
 * proc_fd_getattr(). */
uint64_t rti_procfs_count_descriptors(const struct rti_procfs *procfs, int32_t pid);

/* Returns how many links the directory of a base has, or 0 if that is unknown. Costs one system
 * call. /proc has a link for each of its directories, and for each process of all pid namespaces:
 * Linux, fs/proc/root.c, proc_root_getattr(). */
uint64_t rti_procfs_count_links(const struct rti_procfs *procfs, enum rti_base base);

/* As rti_procfs_list(), for the directory of a base itself. Lists only directories, and entries of
 * an unknown type. */
int rti_procfs_list_dirs(const struct rti_procfs *procfs, enum rti_base base,
                         int (*each)(void *arg, const char *name), void *arg);

/* As rti_procfs_list(), for the directories in a directory of cgroups. One without any is not
 * listed: its number of links says so (Linux, fs/kernfs/inode.c, kernfs_refresh_inode()). */
int rti_procfs_list_cgroups(const struct rti_procfs *procfs, const char *path,
                            int (*each)(void *arg, const char *name), void *arg);

/* Open a directory, to find files in it even if another one gets its name. Returns 0 or -errno;
 * dir->fd is -1 then. */
int rti_procfs_open_dir(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                        struct rti_file *dir);

/* As rti_procfs_read_cached() and rti_procfs_list(), for a path below an open directory. Lists only
 * directories, and entries of an unknown type. */
int rti_procfs_read_in(const struct rti_procfs *procfs, const struct rti_file *dir,
                       const char *path, enum rti_file_format format, struct rti_file *file,
                       struct rti_buf *buf);

/* As rti_procfs_read_in(), for a directory so many levels above it, which must be below the root.
 * Links and ".." in path do not lead out of that directory if the root is not "/". */
int rti_procfs_read_above(const struct rti_procfs *procfs, const struct rti_file *dir,
                          unsigned levels, const char *path, enum rti_file_format format,
                          struct rti_file *file, struct rti_buf *buf);
int rti_procfs_list_dirs_in(const struct rti_procfs *procfs, const struct rti_file *dir,
                            const char *path, int (*each)(void *arg, const char *name), void *arg);

/* Returns false if the file is known to be unchanged since the last call, and true otherwise. Only
 * the kernel's own mountinfo reports changes; a copy below another root does not. */
bool rti_procfs_has_changed(const struct rti_procfs *procfs, const struct rti_file *file);

/* Make room for len bytes and a NUL. The contents stay. Returns 0 or -ENOMEM. */
int rti_buf_reserve(struct rti_buf *buf, size_t len);
void rti_buf_free(struct rti_buf *buf);

/* --- Paths below /proc and /sys. --- */

struct rti_path {
	char text[128];
};

/* Returns "PID/FILE". */
struct rti_path rti_pid_path(int32_t pid, const char *file);

/* Returns "PID/task/TID/FILE". */
struct rti_path rti_task_path(int32_t pid, int32_t tid, const char *file);

/* Returns "class/CLASS/NAME/FILE", to be used below /sys. file may be "". A name must have at most
 * 63 bytes. A '/' in it becomes a '!', as in sysfs. E.g.: "cciss/c0d0" becomes "cciss!c0d0". */
struct rti_path rti_class_path(const char *class, const char *name, const char *file);

/* Returns the number that a name consists of. Returns 0 if it is not a number or exceeds
 * INT32_MAX. */
int32_t rti_path_number(const char *name);

#endif
