/* SPDX-License-Identifier: MIT */
/* Version of the library, and texts of its error numbers. */
#include <errno.h>

#include <rtrack/rtrack.h>

uint32_t rt_version(void)
{
	return RT_VERSION;
}

/* Not strerror(): it depends on the locale and, in some libcs, on static storage. */
const char *rt_strerror(int err)
{
	switch (err > 0 ? -err : err) {
	case 0:
		return "success";
	case -EPERM:
	case -EACCES:
		return "permission denied";
	case -ENOENT:
		return "no such file or directory";
	case -ESRCH:
		return "no such process";
	case -EINTR:
		return "interrupted by a signal";
	case -EPIPE:
		return "the reader has closed it";
	case -EBADF:
		return "descriptor is closed";
	case -EROFS:
		return "read-only file system";
	case -EXDEV:
		return "/proc belongs to another pid namespace";
	case -ENOSYS:
		return "no proc file system is mounted";
	case -EIO:
		return "input/output error";
	case -E2BIG:
		return "struct or argument list is too long";
	case -ENOEXEC:
		return "not an executable format";
	case -ECHILD:
		return "exit status is lost";
	case -EAGAIN:
		return "cannot create another process now";
	case -ENOMEM:
		return "out of memory";
	case -EFAULT:
		return "a pointer is NULL";
	case -EBUSY:
		return "busy";
	case -ENODEV:
		return "device no longer exists";
	case -ENOTDIR:
		return "not a directory";
	case -EISDIR:
		return "is a directory";
	case -EINVAL:
		return "invalid argument";
	case -ENFILE:
	case -EMFILE:
		return "out of file descriptors";
	case -EFBIG:
		return "file is too large";
	case -ENOSPC:
		return "no space left";
	case -ENAMETOOLONG:
		return "name is too long";
	case -ELOOP:
		return "too many symbolic links";
	case -ETXTBSY:
		return "program file is open for writing";
	case -ENODATA:
		return "no data available";
	case -EBADMSG:
		return "file has an unknown format";
	case -EOPNOTSUPP:
		return "not supported here";
	case -ESTALE:
		return "samples come from different trackers";
	case -ETIMEDOUT:
		return "timed out";
	default:
		return "unexpected error";
	}
}
