/* SPDX-License-Identifier: MIT */
/* Where the programs of this library lie: the supervisor and the tracer. */
#include "os/helper_path.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define FROM_LIBRARY_MAX 1024

static void join(const char *dir, const char *name, char *out, size_t size)
{
	size_t dir_len = strlen(dir), name_len = strlen(name);

	out[0] = '\0';
	if (dir_len + 1 + name_len >= size)
		return;
	memcpy(out, dir, dir_len);
	out[dir_len] = '/';
	memcpy(out + dir_len + 1, name, name_len + 1);
}

const char *rti_helper_path(const char *name, unsigned n, char out[RTI_ORIGIN_PATH_MAX])
{
	char from_library[FROM_LIBRARY_MAX];

	switch (n) {
	case 0:
		rti_origin_path(name, out);
		return out;
	case 1:
		join(RTI_LIBEXEC_FROM_LIB, name, from_library, sizeof(from_library));
		rti_origin_path(from_library, out);
		return out;
	case 2:
		join(RTI_LIBEXEC, name, out, RTI_ORIGIN_PATH_MAX);
		return out;
	default:
		return NULL;
	}
}

bool rti_helper_is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EPERM ||
	       err == -ENOEXEC || err == -ELIBBAD;
}
