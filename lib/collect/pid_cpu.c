/* SPDX-License-Identifier: MIT */
/* CPU time of one process: its CPU clock, and from stat what it reaped. */
#include "collect/collector.h"
#include "os/cpu_time.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	uint64_t tick_ns = ctx->platform->tick_ns;

	if (target->clock) {
		rti_split_cpu(target->clock->total_ns, target->clock->user_part_ns,
		              target->clock->both_parts_ns, &out->self[RTI_CPU_USER],
		              &out->self[RTI_CPU_SYSTEM]);
	} else {
		out->self[RTI_CPU_USER] = target->stat->utime * tick_ns;
		out->self[RTI_CPU_SYSTEM] = target->stat->stime * tick_ns;
	}
	out->children[RTI_CPU_USER] = target->stat->cutime * tick_ns;
	out->children[RTI_CPU_SYSTEM] = target->stat->cstime * tick_ns;
	out->valid |= RT_HAS_CPU;
	return 0;
}

const struct rti_pid_collector rti_pid_cpu = {
	.name = "pid_cpu",
	.provides = RT_HAS_CPU,
	.after_stat = 1,
	.collect = collect,
};
