/* SPDX-License-Identifier: MIT */
/* Resident memory of one process, the part of it that is not anonymous, and its address space, from
 * statm.
 *
 * The kernel gathers page counts per thread before it adds them up (64 pages a thread; since 6.2
 * per CPU), so the figure of a live process may be off by that much. */
#include "collect/collector.h"
#include "collect/pid_mm.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	const uint64_t page_size = ctx->platform->page_size;
	struct rti_pid_statm statm;
	int err = rti_pid_mm_read_statm(ctx, target, &statm);

	if (err < 0)
		return err;
	out->row.rss_bytes = statm.resident_pages * page_size;
	out->shared_bytes = statm.shared_pages * page_size;
	out->size_bytes = out->row.virtual_bytes = statm.size_pages * page_size;
	out->valid |= RT_HAS_RSS | RT_HAS_VIRTUAL;
	return 0;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	const uint64_t page_size = ctx->platform->page_size;

	out->row.rss_bytes = row->rss_pages * page_size;
	out->shared_bytes = row->shared_pages * page_size;
	out->size_bytes = out->row.virtual_bytes = row->size_pages * page_size;
	out->valid |= RT_HAS_RSS | RT_HAS_VIRTUAL;
}

static void reset(struct rti_figures *out)
{
	out->row.rss_bytes = out->row.virtual_bytes = out->shared_bytes = out->size_bytes = 0;
}

static void add(const struct rti_figures *member, struct rt_metrics *sum)
{
	sum->rss_bytes += member->row.rss_bytes;
}

const struct rti_pid_collector rti_pid_mem = {
	.provides = RT_HAS_RSS | RT_HAS_VIRTUAL,
	.file = "statm",
	.cadence = RTI_EACH_SAMPLE,
	.changes_while_idle = true,
	.row_request = RTI_BATCH_RSS,
	.collect = collect,
	.from_row = from_row,
	.reset = reset,
	.add = add,
};
