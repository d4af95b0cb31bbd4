/* SPDX-License-Identifier: MIT */
/* I/O of one process, from io.
 *
 * The kernel adds the I/O of reaped children to the process's own, which is right for a tree. For
 * the process alone it is right only until a child is reaped; after that the live threads are
 * summed, unless the caller wants the kernel's own count. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/thread_sum.h"
#include "os/pid_file.h"
#include "util/arith.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	bool self_only =
	    (ctx->flags & (RT_OPT_NO_CHILDREN | RT_OPT_IO_WITH_REAPED)) == RT_OPT_NO_CHILDREN &&
	    target->stat->cminflt + target->stat->cmajflt > 0;
	struct rti_thread_sum sum = { .is_complete = true };
	int err;

	if (!self_only) {
		err = rti_pid_file_read(ctx, target->pid, "io", target->io);
		if (err == 0)
			err = rti_parse_pid_io(ctx->buf->data, ctx->buf->len, &sum.io);
	} else if (target->is_leader_alone) {
		err = rti_thread_sum_read_leader_io(ctx, target, &sum);
	} else {
		err = rti_thread_sum_read(ctx, target->pid, RTI_THREAD_SUM_IO, &sum);
	}
	if (err < 0)
		return err;
	out->self[RTI_READ_BYTES] = sum.io.read_bytes;
	out->self[RTI_WRITE_BYTES] = sum.io.write_bytes;
	out->self[RTI_CANCELLED_BYTES] = sum.io.cancelled_write_bytes;
	out->self[RTI_READ_CHARS] = sum.io.rchar;
	out->self[RTI_WRITE_CHARS] = sum.io.wchar;
	out->self[RTI_READ_CALLS] = sum.io.syscr;
	out->self[RTI_WRITE_CALLS] = sum.io.syscw;
	*(sum.is_complete ? &out->valid : &out->partial) |=
	    sum.io.has_calls ? RT_HAS_IO | RT_HAS_IO_CALLS : RT_HAS_IO;
	return sum.is_complete ? 0 : -ENODATA;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	out->self[RTI_READ_BYTES] = row->read_bytes;
	out->self[RTI_WRITE_BYTES] = row->write_bytes;
	out->self[RTI_CANCELLED_BYTES] = row->cancelled_write_bytes;
	out->self[RTI_READ_CHARS] = row->rchar;
	out->self[RTI_WRITE_CHARS] = row->wchar;
	out->self[RTI_READ_CALLS] = row->syscr;
	out->self[RTI_WRITE_CALLS] = row->syscw;
	out->valid |= RT_HAS_IO | RT_HAS_IO_CALLS;
}

/* The supervisor publishes its own I/O. That is read after io, so it covers at least the part that
 * io included. */
static void keep_children_share(struct rti_figures *out, const struct rti_shared_stats *shared)
{
	static const enum rti_counter_id order[] = {
		RTI_READ_CHARS,      RTI_WRITE_CHARS, RTI_READ_BYTES,  RTI_WRITE_BYTES,
		RTI_CANCELLED_BYTES, RTI_READ_CALLS,  RTI_WRITE_CALLS,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		out->self[order[i]] =
		    rti_subtract_saturated(out->self[order[i]], shared->own_io[i]);
}

const struct rti_pid_collector rti_pid_io = {
	.provides = RT_HAS_IO | RT_HAS_IO_CALLS,
	.file = "io",
	.cadence = RTI_EACH_SAMPLE,
	.folds_children = true,
	.counters = { RTI_READ_BYTES, 7 },
	.counters_may_fall = true,
	.row_request = RTI_BATCH_IO,
	.collect = collect,
	.from_row = from_row,
	.keep_children_share = keep_children_share,
};
