/* SPDX-License-Identifier: MIT */
/* Reads the files of one process, by name or through a cached descriptor. */
#include "os/pid_file.h"

#include <errno.h>

#include "os/procfs_path.h"

int rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *cached)
{
	/* An open file needs no path. */
	int err = cached ? rti_procfs_read_if_open(ctx->procfs, RTI_SINGLE_RECORD, cached, ctx->buf)
	                 : -EBADF;
	struct rti_path path;

	if (err != -EBADF)
		return err;
	path = rti_pid_path(pid, file);
	if (cached)
		return rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD,
		                              cached, ctx->buf);
	return rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD, ctx->buf);
}
