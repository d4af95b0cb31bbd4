/* SPDX-License-Identifier: MIT */
/* The files of one process, by name or through descriptors that are kept. */
#include "os/pid_file.h"

#include <errno.h>

#include "os/procfs_path.h"

int rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *leaf, struct rti_file *kept)
{
	/* What is open needs no name. */
	int err = kept ? rti_source_read_kept(ctx->source, RTI_WHOLE, kept, ctx->buf) : -EBADF;
	struct rti_path path;

	if (err != -EBADF)
		return err;
	path = rti_pid_path(pid, leaf);
	if (kept)
		return rti_source_reread(ctx->source, RTI_PROC, path.text, RTI_WHOLE, kept, ctx->buf);
	return rti_source_read(ctx->source, RTI_PROC, path.text, RTI_WHOLE, ctx->buf);
}
