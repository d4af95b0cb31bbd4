/* SPDX-License-Identifier: MIT */
/* Number of open descriptors of one process: the size of its directory fd. */
#include <errno.h>

#include "collect/collector.h"
#include "os/procfs.h"

/* None is also what a kernel before Linux 6.2 says of every process. The caller has some. */
static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	uint64_t count = rti_procfs_count_descriptors(ctx->procfs, target->pid);
	int err = 0;

	if (!count && !rti_procfs_count_descriptors(ctx->procfs, ctx->platform->getpid()))
		return -EOPNOTSUPP;
	if (!count)
		err =
		    rti_procfs_access(ctx->procfs, RTI_PROC, rti_pid_path(target->pid, "fd").text);
	if (err < 0)
		return err;
	out->row.open_fds = count;
	out->valid |= RT_HAS_OPEN_FDS;
	return 0;
}

static void reset(struct rti_figures *out)
{
	out->row.open_fds = 0;
}

const struct rti_pid_collector rti_pid_fds = {
	.provides = RT_HAS_OPEN_FDS,
	.file = "fd",
	.cadence = RTI_EACH_SAMPLE,
	.changes_while_idle = true,
	.collect = collect,
	.reset = reset,
};
