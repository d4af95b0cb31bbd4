/* SPDX-License-Identifier: MIT */
/* Resident memory of one process, from statm.
 *
 * The kernel gathers page counts per thread before it adds them up (64 pages a thread, since 6.2
 * per CPU), so the figure of a live process may be off by that much. */
#include "collect/collector.h"
#include "collect/pid_mm.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	uint64_t resident_pages;
	int err = rti_pid_mm_read(ctx, target, "statm", target->statm);

	if (err == 0)
		err = rti_parse_pid_statm(ctx->buf->data, ctx->buf->len, &resident_pages);
	if (err < 0)
		return err;
	out->rss_bytes = resident_pages * ctx->platform->page_size;
	out->valid |= RT_HAS_RSS;
	return 0;
}

const struct rti_pid_collector rti_pid_mem = {
	.name = "pid_mem",
	.provides = RT_HAS_RSS,
	.collect = collect,
};
