/* SPDX-License-Identifier: MIT */
/* Proportional memory of one process, from smaps_rollup.
 *
 * Opened anew each time: a kept descriptor stays with the address space from before an exec. */
#include <errno.h>

#include "collect/collector.h"
#include "collect/pid_mm.h"

static int collect(const struct rti_context *ctx, const struct rti_target *target,
                   struct rti_figures *out)
{
	uint64_t pss_kib;
	int err = rti_pid_mm_read(ctx, target, "smaps_rollup", NULL);

	if (err == 0 && ctx->buf->len == 0)
		err = -ESRCH; /* so says 4.18 of a zombie */
	if (err == 0)
		err = rti_parse_smaps_rollup(ctx->buf->data, ctx->buf->len, &pss_kib);
	if (err < 0)
		return err;
	out->pss_bytes = pss_kib * 1024;
	out->valid |= RT_HAS_PSS;
	return 0;
}

const struct rti_pid_collector rti_pid_pss = {
	.name = "pid_pss",
	.provides = RT_HAS_PSS,
	.collect = collect,
};
