/* SPDX-License-Identifier: MIT */
/* User of one process, from status. Its session and process group are in stat: process_row.c. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/pid_status.h"
#include "os/pid_file.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	struct rti_pid_status status;
	int err = rti_pid_status_read(ctx, target, &status);

	if (err == -EOPNOTSUPP) { /* a kernel thread has no memory, but a user */
		err = rti_pid_file_read(ctx, target->pid, "status", target->status);
		if (err == 0)
			err = rti_parse_pid_status(ctx->buf->data, ctx->buf->len, &status);
	}
	if (err < 0)
		return err;
	if (!(status.has & RTI_STATUS_UID))
		return -EBADMSG;
	out->row.uid = status.uid;
	out->valid |= RT_HAS_IDS;
	return 0;
}

/* A row without the user is of a process that an earlier row has shown. */
static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	if (row->has & RTI_BATCH_STATUS)
		out->row.uid = row->uid;
	out->valid |= RT_HAS_IDS;
}

const struct rti_pid_collector rti_pid_ids = {
	.provides = RT_HAS_IDS,
	.file = "status",
	.reads_status = true,
	.cadence = RTI_TEN_HZ,
	.collect = collect,
	.from_row = from_row,
};
