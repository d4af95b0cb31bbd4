/* SPDX-License-Identifier: MIT */
/* Starts the programs of this library: the supervisor and the tracer. */
#include "os/process/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os/built_in.h"
#include "os/kernel_abi.h"
#include "os/process/spawn.h"
#include "os/protocol/shared_memory.h"

/* Returns true if all of it was written. */
static bool write_all(int fd, const unsigned char *at, const unsigned char *end)
{
	while (at < end) {
		ssize_t n = write(fd, at, (size_t)(end - at));

		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? n : 0;
	}
	return true;
}

/* Make a file in memory of a program, which none can change afterwards. Returns 0 or -errno. */
static int make_program(const unsigned char *begin, const unsigned char *end, int *fd)
{
	size_t bytes = (size_t)(end - begin);
	int err = rti_memfd_new(bytes, RTI_MFD_EXEC, fd);

	if (err == -EINVAL)
		err = rti_memfd_new(bytes, 0, fd);
	if (err < 0)
		return err == -EOPNOTSUPP ? -ENOENT : err;
	if (write_all(*fd, begin, end) &&
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
		return 0;
	err = -errno;
	close(*fd);
	*fd = -1;
	return err;
}

/* Open what this program contains, or else what lies beside the library. Returns 0 or -errno. */
static int open_helper(const char *name, struct rti_origin_file *file)
{
	const struct rti_built_in *in = &rti_built_in;

	if (!in->is_helper && !in->file)
		return rti_origin_open(name, file);
	file->name = "";
	memcpy(file->path, name, strlen(name) + 1);
	file->dir = -1;
	if (in->file)
		return make_program(in->file, in->file_end, &file->dir);
	/* The program itself, whatever its path leads to by now. */
	file->dir = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	return file->dir < 0 ? -errno : 0;
}

int rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                     struct rti_origin_file *file, int32_t *pid)
{
	struct rti_spawn helper = *opts;
	int err = open_helper(name, file);

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
