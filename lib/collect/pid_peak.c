/* SPDX-License-Identifier: MIT */
/* Peak resident memory of one process, from status: VmHWM, which unlike ru_maxrss an exec does not
 * hand on. The same file tells shared memory from files, and has swap and huge pages. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/pid_status.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	struct rti_pid_status status;
	int err = rti_pid_status_read(ctx, target, &status);

	if (err < 0)
		return err;
	if (!(status.has & RTI_STATUS_HWM))
		return -ESRCH; /* a zombie: its memory is released */
	out->row.peak_rss_bytes = status.vm_hwm_kib * 1024;
	out->shmem_bytes = status.has & RTI_STATUS_SHMEM ? status.rss_shmem_kib * 1024 : 0;
	out->swap_bytes = status.swap_kib * 1024;
	out->hugetlb_bytes = status.hugetlb_kib * 1024;
	out->valid |= RT_HAS_PEAK_RSS;
	return 0;
}

static void from_row(const struct rti_context *ctx, const struct rti_batch_row *row,
                     struct rti_figures *out)
{
	out->row.peak_rss_bytes = row->peak_rss_pages * ctx->platform->page_size;
	out->shmem_bytes = row->shmem_pages * ctx->platform->page_size;
	out->swap_bytes = row->swap_pages * ctx->platform->page_size;
	out->hugetlb_bytes = row->hugetlb_pages * ctx->platform->page_size;
	out->valid |= RT_HAS_PEAK_RSS;
}

static void reset(struct rti_figures *out)
{
	out->row.peak_rss_bytes = out->shmem_bytes = out->swap_bytes = out->hugetlb_bytes = 0;
}

const struct rti_pid_collector rti_pid_peak = {
	.provides = RT_HAS_PEAK_RSS,
	.file = "status",
	.reads_status = true,
	.cadence = RTI_TEN_HZ,
	.rises_with_rss = true,
	.row_request = RTI_BATCH_PEAK,
	.collect = collect,
	.from_row = from_row,
	.reset = reset,
};
