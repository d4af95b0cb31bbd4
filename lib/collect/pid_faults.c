/* SPDX-License-Identifier: MIT */
/* Page faults and threads of one process, from stat; and whether it ignores SIGCHLD, so that its
 * children vanish without an account. */
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
	out->threads = target->stat->num_threads;
	out->ignores_sigchld =
	    target->stat->has_signals && target->stat->sigignore >> (SIGCHLD - 1) & 1;
	out->valid |= RT_HAS_FAULTS | RT_HAS_THREADS;
	return 0;
}

const struct rti_pid_collector rti_pid_faults = {
	.name = "pid_faults",
	.provides = RT_HAS_FAULTS | RT_HAS_THREADS,
	.after_stat = 1,
	.collect = collect,
};
