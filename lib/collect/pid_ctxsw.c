/* SPDX-License-Identifier: MIT */
/* Context switches of one process: the sum over its threads, since status tells only the leader's. */
#include "collect/collector.h"

#include <errno.h>

#include "collect/thread_sum.h"

static int collect(const struct rti_context *ctx, const struct rti_target *who, struct rti_figures *out)
{
	struct rti_own own;
	int err = rti_own_read(ctx, who->pid, RTI_OWN_SWITCHES, &own);

	if (err < 0)
		return err;
	out->own[RTI_VOLUNTARY] = own.voluntary;
	out->own[RTI_INVOLUNTARY] = own.involuntary;
	*(own.is_complete ? &out->valid : &out->partial) |= RT_HAS_CTXSW;
	return own.is_complete ? 0 : -ENODATA;
}

const struct rti_pid_collector rti_pid_ctxsw = {
	.name = "pid_ctxsw",
	.provides = RT_HAS_CTXSW,
	.collect = collect,
};
