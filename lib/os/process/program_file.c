/* SPDX-License-Identifier: MIT */
/* The program file of a process: /proc/PID/exe. */
#include "os/process/program_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/decimal.h"

#define MINOR_BITS 20 /* include/linux/kdev_t.h */

int rti_program_file(int32_t pid, uint64_t *device, uint64_t *inode, char *path, size_t size)
{
	char link[sizeof("/proc//exe") + RTI_DECIMAL_MAX] = "/proc/";
	uint64_t changed_ns;
	struct stat file;
	ssize_t got;

	memcpy(rti_decimal(link + strlen(link), (uint64_t)pid), "/exe", sizeof("/exe"));
	got = readlink(link, path, size - 1);
	if (got < 0 || stat(link, &file) < 0)
		return -errno;
	path[got] = '\0';
	changed_ns = (uint64_t)file.st_ctim.tv_sec * 1000000000u + (uint64_t)file.st_ctim.tv_nsec;
	*device =
	    changed_ns << 32 | (uint64_t)major(file.st_dev) << MINOR_BITS | minor(file.st_dev);
	*inode = file.st_ino;
	return 0;
}
