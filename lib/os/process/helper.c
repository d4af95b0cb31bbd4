/* SPDX-License-Identifier: MIT */
/* Starts the programs of this library: the supervisor and the tracer. */
#include "os/process/helper.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "os/process/spawn.h"

#define FROM_LIBRARY_MAX 1024

/* Returns 0, or -ENOENT if the path does not fit. */
static int join(const char *dir, const char *name, char *out, size_t size)
{
	size_t dir_len = strlen(dir), name_len = strlen(name);

	if (dir_len + 1 + name_len >= size)
		return -ENOENT;
	memcpy(out, dir, dir_len);
	out[dir_len] = '/';
	memcpy(out + dir_len + 1, name, name_len + 1);
	return 0;
}

/* Start what was found in an open directory. Without /proc, it is not found. */
static int spawn_found(const struct rti_spawn *opts, struct rti_origin_file *file, int32_t *pid)
{
	struct rti_spawn found = *opts;
	int err;

	found.file = file;
	err = rti_spawn(&found, pid);
	if (err == 0)
		return 0;
	close(file->dir);
	file->dir = -1;
	return err;
}

static int spawn_from_library(const char *name, const struct rti_spawn *opts,
                              struct rti_origin_file *file, int32_t *pid)
{
	char from_library[FROM_LIBRARY_MAX];
	int err = rti_origin_open(name, file);

	if (err == 0)
		err = spawn_found(opts, file, pid);
	if (err != -ENOENT)
		return err;
	err = join(RTI_LIBEXEC_FROM_LIB, name, from_library, sizeof(from_library));
	if (err == 0)
		err = rti_origin_open(from_library, file);
	return err == 0 ? spawn_found(opts, file, pid) : err;
}

int rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                     struct rti_origin_file *file, int32_t *pid)
{
	struct rti_spawn helper = *opts;
	int err;

	helper.argv = argv;
	argv[0] = file->path;
	file->dir = -1;
	err = spawn_from_library(name, &helper, file, pid);
	if (err != -ENOENT)
		return err;
	err = join(RTI_LIBEXEC, name, file->path, sizeof(file->path));
	return err == 0 ? rti_spawn(&helper, pid) : err;
}

bool rti_helper_is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EPERM ||
	       err == -ENOEXEC || err == -ELIBBAD;
}
