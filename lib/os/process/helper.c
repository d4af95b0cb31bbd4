/* SPDX-License-Identifier: MIT */
/* Starts the programs of this library: the supervisor and the tracer. */
#include "os/process/helper.h"

#include <errno.h>
#include <unistd.h>

#include "os/process/spawn.h"

int rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                     struct rti_origin_file *file, int32_t *pid)
{
	struct rti_spawn helper = *opts;
	int err = rti_origin_open(name, file);

	helper.argv = argv;
	helper.file = file;
	argv[0] = file->path;
	if (err == 0)
		err = rti_spawn(&helper, pid);
	if (err < 0 && file->dir >= 0) {
		close(file->dir);
		file->dir = -1;
	}
	return err;
}

bool rti_helper_is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -EACCES || err == -EPERM ||
	       err == -ENOEXEC || err == -ELIBBAD;
}
