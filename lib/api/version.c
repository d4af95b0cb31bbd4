/* SPDX-License-Identifier: MIT */
/* Version of the library, and texts of its error numbers. */
#include <errno.h>

#include <rtrack/rtrack.h>

uint32_t rt_version(void)
{
	return RT_VERSION;
}

static const struct {
	int err;
	const char *text;
} texts[] = {
	{ 0, "success" },
	{ -EPERM, "permission denied" },
	{ -EACCES, "permission denied" },
	{ -ENOENT, "no such file or directory" },
	{ -ESRCH, "no such process" },
	{ -EINTR, "interrupted by a signal" },
	{ -EPIPE, "the reader has closed it" },
	{ -EBADF, "descriptor is closed" },
	{ -EROFS, "read-only file system" },
	{ -EXDEV, "/proc belongs to another pid namespace" },
	{ -ENOSYS, "no proc file system is mounted" },
	{ -EIO, "input/output error" },
	{ -E2BIG, "struct or argument list is too long" },
	{ -ENOEXEC, "not an executable format" },
	{ -ECHILD, "exit status is lost" },
	{ -EAGAIN, "cannot create another process now" },
	{ -ENOMEM, "out of memory" },
	{ -EFAULT, "a pointer is NULL" },
	{ -EBUSY, "busy" },
	{ -ENODEV, "no such device" },
	{ -ENOTDIR, "not a directory" },
	{ -EISDIR, "is a directory" },
	{ -EINVAL, "invalid argument" },
	{ -ENFILE, "out of file descriptors" },
	{ -EMFILE, "out of file descriptors" },
	{ -EFBIG, "file is too large" },
	{ -ENOSPC, "no space left" },
	{ -ENAMETOOLONG, "name is too long" },
	{ -ELOOP, "too many symbolic links" },
	{ -ELIBBAD, "the interpreter of the program has an unknown format" },
	{ -ETXTBSY, "program file is open for writing" },
	{ -ENOPKG, "a helper program or the BPF plug-in is not installed" },
	{ -EPROTO, "rtrack-supervisor is of another release" },
	{ -EPROTONOSUPPORT, "a driver and its library are of different releases" },
	{ -ENODATA, "no data available" },
	{ -ENOBUFS, "too many at once: some are missing" },
	{ -EBADMSG, "file has an unknown format" },
	{ -EOPNOTSUPP, "not supported here" },
	{ -EDQUOT, "the budget for reading it was used up" },
	{ -ESTALE, "samples come from different trackers" },
	{ -ETIMEDOUT, "timed out" },
};

/* Not strerror(): it depends on the locale and, in some libcs, on static storage. */
const char *rt_strerror(int err)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].err == (err > 0 ? -err : err))
			return texts[i].text;
	}
	return "unexpected error";
}
