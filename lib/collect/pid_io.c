/* SPDX-License-Identifier: MIT */
/* I/O of one process, from io.
 *
 * What the process reaped is folded in by the kernel, which is right for a tree. For the process
 * alone it is right only as long as nothing was reaped; after that the live threads are summed. */
#include <errno.h>
#include <stdbool.h>

#include "collect/collector.h"
#include "collect/thread_sum.h"
#include "os/pid_file.h"

static int read_io(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_pid_io *io)
{
	int err = rti_pid_file_read(ctx, target->pid, "io", target->io);

	return err < 0 ? err : rti_parse_pid_io(ctx->buf->data, ctx->buf->len, io);
}

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	bool self_only =
	    ctx->flags & RT_OPT_NO_CHILDREN && target->stat->cminflt + target->stat->cmajflt > 0;
	struct rti_thread_sum sum = { .is_complete = true };
	int err = self_only ? rti_thread_sum_read(ctx, target->pid, RTI_THREAD_SUM_IO, &sum)
	                    : read_io(ctx, target, &sum.io);

	if (err < 0)
		return err;
	out->self[RTI_READ_BYTES] = sum.io.read_bytes;
	out->self[RTI_WRITE_BYTES] = sum.io.write_bytes;
	out->self[RTI_CANCELLED_BYTES] = sum.io.cancelled_write_bytes;
	out->self[RTI_READ_CHARS] = sum.io.rchar;
	out->self[RTI_WRITE_CHARS] = sum.io.wchar;
	*(sum.is_complete ? &out->valid : &out->partial) |= RT_HAS_IO;
	return sum.is_complete ? 0 : -ENODATA;
}

const struct rti_pid_collector rti_pid_io = {
	.name = "pid_io",
	.provides = RT_HAS_IO,
	.collect = collect,
};
