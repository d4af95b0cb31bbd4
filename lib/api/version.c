/* SPDX-License-Identifier: MIT */
/* Which library this is, and what its error numbers mean. */
#include <errno.h>

#include <rtrack/rtrack.h>

uint32_t rt_version(void)
{
	return RT_VERSION;
}

/* Own words, since strerror() depends on the locale and, in places, on static storage. */
const char *rt_strerror(int err)
{
	switch (err > 0 ? -err : err) {
	case 0:
		return "done";
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
		return "nobody reads it any more";
	case -EBADF:
		return "descriptor is closed";
	case -EROFS:
		return "read-only file system";
	case -EXDEV:
		return "/proc is of another pid namespace";
	case -ENOSYS:
		return "no proc file system is mounted";
	case -EIO:
		return "input/output error";
	case -E2BIG:
		return "struct or argument list is longer than known here";
	case -ENOEXEC:
		return "not an executable format";
	case -ECHILD:
		return "exit status is lost";
	case -EAGAIN:
		return "out of processes for now";
	case -ENOMEM:
		return "out of memory";
	case -EFAULT:
		return "a pointer is NULL";
	case -EBUSY:
		return "busy";
	case -ENODEV:
		return "device is gone";
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
		return "file is too large to be the kernel's";
	case -ENOSPC:
		return "no room";
	case -ENAMETOOLONG:
		return "name is too long";
	case -ELOOP:
		return "too many symbolic links";
	case -ETXTBSY:
		return "program is being written to";
	case -ENODATA:
		return "not known";
	case -EBADMSG:
		return "file could not be understood";
	case -EOPNOTSUPP:
		return "not supported here";
	case -ESTALE:
		return "samples are of different trackers";
	case -ETIMEDOUT:
		return "no answer in time";
	default:
		return "unexpected error";
	}
}
