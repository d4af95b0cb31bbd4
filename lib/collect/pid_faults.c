/* SPDX-License-Identifier: MIT */
/* Page faults and threads of one process, from stat; and whether it ignores SIGCHLD, so that its children vanish without an
 * account. */
#include "collect/collector.h"

#include <signal.h>

static int collect(const struct rti_context *ctx, const struct rti_target *who, struct rti_figures *out)
{
	(void)ctx;
	out->self[RTI_MINOR_FAULTS] = who->stat->minflt;
	out->self[RTI_MAJOR_FAULTS] = who->stat->majflt;
	out->children[RTI_MINOR_FAULTS] = who->stat->cminflt;
	out->children[RTI_MAJOR_FAULTS] = who->stat->cmajflt;
	out->threads = who->stat->num_threads;
	out->ignores_sigchld = who->stat->has_signals && who->stat->sigignore >> (SIGCHLD - 1) & 1;
	out->valid |= RT_HAS_FAULTS | RT_HAS_THREADS;
	return 0;
}

const struct rti_pid_collector rti_pid_faults = {
	.name = "pid_faults",
	.provides = RT_HAS_FAULTS | RT_HAS_THREADS,
	.after_stat = 1,
	.collect = collect,
};
