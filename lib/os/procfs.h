/* SPDX-License-Identifier: MIT */
/* Rooted access to proc and sys: the only place that makes system calls on files.
 *
 * Owner: a tracker owns one source and with it the three root descriptors. Kept files (struct
 * rti_file) belong to whoever opened them, who closes them before the source closes. Every
 * descriptor is close-on-exec. */
#ifndef RTI_PROCFS_H
#define RTI_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum rti_base { RTI_PROC, RTI_SYS, RTI_ROOT };

/* Byte buffer that grows and is used again. After a read, data[len] is '\0'. */
struct rti_buf {
	char *data;
	size_t len, cap;
};

struct rti_space {
	uint64_t total_bytes, free_bytes, available_bytes;
	uint32_t major, minor; /* of the file system that the path leads to; 0:0 is unknown */
};

/* The file calls, replaceable so that tests can have EACCES as root, short reads and files that
 * vanish half-way. All return -errno on failure. */
struct rti_procfs_ops {
	int (*open)(int dirfd, const char *path, int flags);
	ssize_t (*pread)(int fd, void *buf, size_t len, off_t offset);
	ssize_t (*getdents)(int fd, void *buf, size_t len);
	ssize_t (*readlink)(int dirfd, const char *path, char *buf, size_t len);
	int (*access)(int dirfd, const char *path);
	int (*space)(const char *path, struct rti_space *out);
	/* 1 or 0: whether a file that tells by poll(2) has changed since this was asked last.
	 * NULL: it may have. */
	bool (*has_changed)(int fd);
	int (*close)(int fd);
};

extern const struct rti_procfs_ops rti_procfs_linux;

struct rti_procfs {
	const struct rti_procfs_ops *ops;
	int fd[3];       /* by enum rti_base; -1 when absent (RTI_SYS only) */
	bool is_foreign; /* a root other than "/" was asked for */
	char *root;      /* without a trailing slash; "" for "/" */
};

/* A file read again and again. fd is -1 while closed. */
struct rti_file {
	int fd;
};

#define RTI_FILE_INIT                                                                              \
	{                                                                                          \
		-1                                                                                 \
	}

/* How a file delivers itself. */
enum rti_file_format {
	RTI_SINGLE_RECORD, /* one record: a read that does not fill the buffer has all of it */
	/* many records: read until nothing is left, since one read stops where the next does not
	 * fit a page */
	RTI_SEQ_FILE,
	/* many records, none longer than half a page: a read of less than that has all that is
	 * left */
	RTI_SHORT_LINES
};

int rti_procfs_open(struct rti_procfs *procfs, const char *root, const struct rti_procfs_ops *ops);
void rti_procfs_close(struct rti_procfs *procfs);

/* Open, read and close. 0 or -errno. */
int rti_procfs_read(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    enum rti_file_format format, struct rti_buf *buf);

/* Read through a kept descriptor, opening it if need be, and opening it anew where it cannot
 * seek. On failure the file is closed. 0 or -errno. */
int rti_procfs_read_cached(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                           enum rti_file_format format, struct rti_file *file, struct rti_buf *buf);

/* The same where it is open already. -EBADF when it has to be opened, for the first time or
 * anew. */
int rti_procfs_read_if_open(const struct rti_procfs *procfs, enum rti_file_format format,
                            struct rti_file *file, struct rti_buf *buf);

void rti_procfs_close_file(const struct rti_procfs *procfs, struct rti_file *file);

/* Whether a file exists. Returns 0 if it does; -ENOENT; or another -errno. */
int rti_procfs_access(const struct rti_procfs *procfs, enum rti_base base, const char *path);

/* Target of a symbolic link, NUL-terminated and cut to fit. Length or -errno. */
ssize_t rti_procfs_readlink(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                            char *out, size_t out_size);

/* Call each() for every name in a directory but "." and "..", until it returns non-zero. 0, what
 * each() returned, or -errno. */
int rti_procfs_list(const struct rti_procfs *procfs, enum rti_base base, const char *path,
                    int (*each)(void *arg, const char *name), void *arg);

/* 0 when a kept file is known to say what it said when this was asked last: only mountinfo can
 * tell, and only that of the kernel, not a copy below another root. */
bool rti_procfs_has_changed(const struct rti_procfs *procfs, const struct rti_file *file);

/* Room for len bytes and a '\0'. 0 or -ENOMEM; the contents stay. */
int rti_buf_reserve(struct rti_buf *buf, size_t len);
void rti_buf_free(struct rti_buf *buf);

#endif
