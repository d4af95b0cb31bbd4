/* SPDX-License-Identifier: MIT */
/* Proportional memory of one process, from smaps_rollup. */
#include "collect/collector.h"
#include "collect/pid_mm.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	int err = rti_pid_mm_read_pss(ctx, target, &out->row.pss_bytes);

	if (err < 0)
		return err;
	out->row.pss_source = RT_PSS_READ;
	out->valid |= RT_HAS_PSS;
	return 0;
}

static void reset(struct rti_figures *out)
{
	out->row.pss_bytes = 0;
	out->row.pss_source = 0;
}

static void add(const struct rti_figures *member, struct rt_metrics *sum)
{
	sum->pss_bytes += member->row.pss_bytes;
}

const struct rti_pid_collector rti_pid_pss = {
	.provides = RT_HAS_PSS,
	.needs = RT_HAS_RSS,
	.cadence = RTI_BUDGETED,
	.changes_while_idle = true,
	.collect = collect,
	.reset = reset,
	.add = add,
};
