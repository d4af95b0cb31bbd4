/* SPDX-License-Identifier: MIT */
/* Context switches of one process: the sum over its threads, since status has only the leader's. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/pid_status.h"
#include "collect/thread_sum.h"

/* Most processes have never had another thread. Then status of the leader has all, and is often
 * read already. To list and to read the files of its only thread would cost three times as much. */
static bool has_leader_all(const struct rti_context *ctx, const struct rti_target *target,
                           struct rti_thread_sum *sum)
{
	struct rti_pid_status status;

	if (!target->clock || target->memory_tid || target->stat->num_threads != 1 ||
	    rti_pid_status_read(ctx, target, &status) < 0 || !(status.has & RTI_STATUS_SWITCHES) ||
	    !rti_thread_sum_is_leader_alone(ctx, target))
		return false;
	*sum = (struct rti_thread_sum){
		.voluntary = status.voluntary_switches,
		.involuntary = status.involuntary_switches,
		.is_complete = true,
	};
	return true;
}

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	struct rti_thread_sum sum;
	int err = 0;

	if (!has_leader_all(ctx, target, &sum))
		err = rti_thread_sum_read(ctx, target->pid, RTI_THREAD_SUM_SWITCHES, &sum);
	if (err < 0)
		return err;
	out->self[RTI_VOLUNTARY] = sum.voluntary;
	out->self[RTI_INVOLUNTARY] = sum.involuntary;
	out->ended_run_ns = sum.ended_run_ns;
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
	.reads_status = true,
	.cadence = RTI_TEN_HZ,
	.is_often_partial = true,
	.counters = { RTI_VOLUNTARY, 2 },
	.counters_may_fall = true,
	.collect = collect,
	.from_row = from_row,
};
