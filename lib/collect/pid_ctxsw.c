/* SPDX-License-Identifier: MIT */
/* Context switches of one process: the sum over its threads, since status has only the leader's. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/thread_sum.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	struct rti_thread_sum sum;
	int err = rti_thread_sum_read(ctx, target->pid, RTI_THREAD_SUM_SWITCHES, &sum);

	if (err < 0)
		return err;
	out->self[RTI_VOLUNTARY] = sum.voluntary;
	out->self[RTI_INVOLUNTARY] = sum.involuntary;
	*(sum.is_complete ? &out->valid : &out->partial) |= RT_HAS_CTXSW;
	return sum.is_complete ? 0 : -ENODATA;
}

/* A row includes the threads that have exited. */
static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	(void)ctx;
	out->self[RTI_VOLUNTARY] = row->voluntary_switches;
	out->self[RTI_INVOLUNTARY] = row->involuntary_switches;
	out->valid |= RT_HAS_CTXSW;
}

const struct rti_pid_collector rti_pid_ctxsw = {
	.provides = RT_HAS_CTXSW,
	.file = "task",
	.cadence = RTI_TEN_HZ,
	.is_often_partial = true,
	.counters = { RTI_VOLUNTARY, 2 },
	.counters_may_fall = true,
	.collect = collect,
	.from_row = from_row,
};
