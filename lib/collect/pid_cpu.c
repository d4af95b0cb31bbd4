/* SPDX-License-Identifier: MIT */
/* CPU time of one process, from its CPU clock; and of its reaped children, from stat, or from
 * getrusage(2) if the process is the caller. */
#include "collect/collector.h"
#include "os/cpu_time.h"

static bool is_of_ticks(uint64_t time_ns, uint64_t ticks, uint64_t tick_ns)
{
	return time_ns / tick_ns == ticks;
}

/* What the caller has reaped, to the microsecond. Returns false if it has reaped a child since stat
 * was read: the page faults in stat have to be of the same children. */
static bool collect_of_caller(const struct rti_context *ctx, const struct rti_target *target,
                              struct rti_figures *out)
{
	const struct rti_platform *platform = ctx->platform;
	struct rti_reaped_use use;

	if (!platform->reaped_use || target->pid != platform->getpid())
		return false;
	platform->reaped_use(&use);
	if (use.minor_faults != target->stat->cminflt ||
	    use.major_faults != target->stat->cmajflt ||
	    !is_of_ticks(use.user_ns, target->stat->cutime, platform->tick_ns) ||
	    !is_of_ticks(use.system_ns, target->stat->cstime, platform->tick_ns))
		return false;
	out->children[RTI_CPU_USER] = use.user_ns;
	out->children[RTI_CPU_SYSTEM] = use.system_ns;
	return true;
}

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	uint64_t tick_ns = ctx->platform->tick_ns;
	const struct rti_pid_stat *stat = target->stat;
	bool has_reaped = stat->cminflt || stat->cmajflt || stat->cutime || stat->cstime;

	if (target->clock) {
		rti_split_cpu(target->clock->total_ns, target->clock->user_part_ns,
		              target->clock->both_parts_ns, &out->self[RTI_CPU_USER],
		              &out->self[RTI_CPU_SYSTEM]);
	} else {
		out->self[RTI_CPU_USER] = stat->utime * tick_ns;
		out->self[RTI_CPU_SYSTEM] = stat->stime * tick_ns;
	}
	out->is_own_in_ticks = !target->clock;
	out->children[RTI_CPU_USER] = stat->cutime * tick_ns;
	out->children[RTI_CPU_SYSTEM] = stat->cstime * tick_ns;
	out->is_reaped_in_us = has_reaped && collect_of_caller(ctx, target, out);
	out->is_reaped_in_ticks = has_reaped && !out->is_reaped_in_us;
	out->valid |= RT_HAS_CPU;
	return 0;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	rti_split_cpu(row->cpu_ns, row->user_part_ns, row->user_part_ns + row->system_part_ns,
	              &out->self[RTI_CPU_USER], &out->self[RTI_CPU_SYSTEM]);
	out->children[RTI_CPU_USER] = row->reaped_user_ns;
	out->children[RTI_CPU_SYSTEM] = row->reaped_system_ns;
	out->is_own_in_ticks = out->is_reaped_in_ticks = out->is_reaped_in_us = false;
	out->valid |= RT_HAS_CPU;
}

static void keep_children_share(struct rti_figures *out, const struct rti_shared_stats *shared)
{
	(void)shared;
	out->self[RTI_CPU_USER] = out->self[RTI_CPU_SYSTEM] = 0;
	out->is_own_in_ticks = false;
}

const struct rti_pid_collector rti_pid_cpu = {
	.provides = RT_HAS_CPU,
	.file = "stat",
	.cadence = RTI_EACH_SAMPLE,
	.after_stat = true,
	.counters = { RTI_CPU_USER, 2 },
	.collect = collect,
	.from_row = from_row,
	.keep_children_share = keep_children_share,
};
