/* SPDX-License-Identifier: MIT */
/* Takes the place of rti_origin_open(): the plug-in is the one that is linked with the faults. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "os/origin.h"

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);
int __real_open64(const char *path, int flags, ...);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	char *end;

	if (strchr(name, '/') || !*FAULTY_PLUGIN)
		return -ENOENT;
	snprintf(out->path, sizeof(out->path), "%s", FAULTY_PLUGIN);
	end = strrchr(out->path, '/');
	*end = '\0';
	out->dir = __real_open64(out->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*end = '/';
	out->name = end + 1;
	return out->dir < 0 ? -errno : 0;
}
