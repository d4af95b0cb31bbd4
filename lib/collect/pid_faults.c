/* SPDX-License-Identifier: MIT */
/* Page faults and threads of one process, from stat. */
#include "collector.h"

static int collect(const struct rti_context *ctx, const struct rti_target *who, struct rti_figures *out)
{
	(void)ctx;
	out->own[RTI_MINOR_FAULTS] = who->stat->minflt;
	out->own[RTI_MAJOR_FAULTS] = who->stat->majflt;
	out->reaped[RTI_MINOR_FAULTS] = who->stat->cminflt;
	out->reaped[RTI_MAJOR_FAULTS] = who->stat->cmajflt;
	out->threads = who->stat->num_threads;
	out->valid |= RT_HAS_FAULTS | RT_HAS_THREADS;
	return 0;
}

const struct rti_pid_collector rti_pid_faults = {
	.name = "pid_faults",
	.provides = RT_HAS_FAULTS | RT_HAS_THREADS,
	.after_stat = 1,
	.collect = collect,
};
