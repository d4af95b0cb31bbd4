/* SPDX-License-Identifier: MIT */
/* GPUs of the system: a tracker that looks at them, and their columns. */
#include "gpu.h"

#include <errno.h>

#include "cell.h"
#include "figures.h"

int gpu_system_tracker_new(struct rt_tracker **out)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = rt_domains(RT_KIND_SYSTEM) };

	return rt_system_tracker_new(out, &opts);
}

bool gpu_is_absent(const struct rt_tracker *tracker)
{
	return rt_tracker_status(tracker, RT_HAS_GPU) == -ENOENT &&
	       rt_tracker_status(tracker, RT_HAS_GPU_MEMORY) == -ENOENT;
}

void gpu_cells(struct text *out, const struct row *row)
{
	const struct rt_metrics *m = row->system;
	const struct rt_delta *d = row->system_delta;
	bool busy = is_known(delta_marks(d), RT_HAS_GPU) && d->interval_ns > 0;
	bool memory = is_informative(metrics_marks(m), RT_HAS_GPU_MEMORY, m->gpu_memory_bytes);
	bool used = is_known(metrics_marks(m), RT_HAS_GPU);

	if (row->has_no_gpu) {
		cell_rounded(out, true, 0, 4);
		cell_rounded(out, true, 0, 4);
		cell_u64(out, true, 0);
		return;
	}
	cell_rounded(out, busy, busy ? (double)d->gpu_busy_ns / (double)d->interval_ns : 0, 4);
	cell_rounded(out, memory, (double)m->gpu_memory_bytes / MIB, 4);
	cell_u64(out, used, m->gpus_used);
}
