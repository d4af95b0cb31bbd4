/* SPDX-License-Identifier: MIT */
/* Threads of one process, from stat. */
#include "collect/collector.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	(void)ctx;
	out->row.threads = target->stat->num_threads;
	out->valid |= RT_HAS_THREADS;
	return 0;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	out->row.threads = row->threads;
	out->valid |= RT_HAS_THREADS;
}

static void reset(struct rti_figures *out)
{
	out->row.threads = 0;
}

static void add(const struct rti_figures *member, struct rt_metrics *sum)
{
	sum->threads += member->row.threads;
}

const struct rti_pid_collector rti_pid_threads = {
	.provides = RT_HAS_THREADS,
	.file = "stat",
	.cadence = RTI_EACH_SAMPLE,
	.after_stat = true,
	.collect = collect,
	.from_row = from_row,
	.reset = reset,
	.add = add,
};
