/* SPDX-License-Identifier: MIT */
/* Page faults of one process, from stat; and whether it ignores SIGCHLD, so that the kernel
 * discards the usage of its children. */
#include <signal.h>

#include "collect/collector.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	(void)ctx;
	out->self[RTI_MINOR_FAULTS] = target->stat->minflt;
	out->self[RTI_MAJOR_FAULTS] = target->stat->majflt;
	out->children[RTI_MINOR_FAULTS] = target->stat->cminflt;
	out->children[RTI_MAJOR_FAULTS] = target->stat->cmajflt;
	out->ignores_sigchld =
	    target->stat->has_signals && target->stat->sigignore >> (SIGCHLD - 1) & 1;
	out->valid |= RT_HAS_FAULTS;
	return 0;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	out->self[RTI_MINOR_FAULTS] = row->minflt;
	out->self[RTI_MAJOR_FAULTS] = row->majflt;
	out->children[RTI_MINOR_FAULTS] = row->cminflt;
	out->children[RTI_MAJOR_FAULTS] = row->cmajflt;
	if (row->has & RTI_BATCH_STATUS)
		out->ignores_sigchld = row->has & RTI_BATCH_IGNORES_SIGCHLD;
	out->valid |= RT_HAS_FAULTS;
}

static void keep_children_share(struct rti_figures *out, const struct rti_shared_stats *shared)
{
	(void)shared;
	out->self[RTI_MINOR_FAULTS] = out->self[RTI_MAJOR_FAULTS] = 0;
}

const struct rti_pid_collector rti_pid_faults = {
	.provides = RT_HAS_FAULTS,
	.file = "stat",
	.cadence = RTI_EACH_SAMPLE,
	.after_stat = true,
	.counters = { RTI_MINOR_FAULTS, 2 },
	.collect = collect,
	.from_row = from_row,
	.keep_children_share = keep_children_share,
};
