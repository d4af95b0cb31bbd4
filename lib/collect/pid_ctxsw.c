/* SPDX-License-Identifier: MIT */
/* Context switches of one process: the sum over its threads, since status tells only the
 * leader's. */
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

const struct rti_pid_collector rti_pid_ctxsw = {
	.name = "pid_ctxsw",
	.provides = RT_HAS_CTXSW,
	.collect = collect,
};
