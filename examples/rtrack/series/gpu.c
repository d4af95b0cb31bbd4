/* SPDX-License-Identifier: MIT */
/* GPUs: whether they are looked at, their columns, and what was used of them. */
#include "gpu.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cell.h"
#include "text/units.h"

static bool has_render_node(void)
{
	DIR *dir = opendir("/sys/class/drm");
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = strncmp(entry->d_name, "renderD", strlen("renderD")) == 0;
	closedir(dir);
	return found;
}

/* Looks at names only, which wakes no GPU. */
static bool has_devices(void)
{
	static const char *const files[] = { "/dev/nvidiactl", "/proc/driver/nvidia", "/dev/kfd",
		                             "/dev/dxg" };
	static enum { NOT_ASKED, NO, YES } answer;

	if (answer == NOT_ASKED)
		answer = has_render_node() ? YES : NO;
	for (size_t i = 0; answer == NO && i < sizeof(files) / sizeof(files[0]); i++)
		if (access(files[i], F_OK) == 0)
			answer = YES;
	return answer == YES;
}

/* Of a tree the library says 0 on such a machine, which is known. */
bool gpu_is_absent(const struct follow *f)
{
	if (!f->wants_gpu || f->now.kind != RT_KIND_SYSTEM)
		return !has_devices();
	return rt_tracker_status(f->tracker, RT_HAS_GPU) == -ENOENT &&
	       rt_tracker_status(f->tracker, RT_HAS_GPU_MEMORY) == -ENOENT;
}

void gpu_cells(struct text *out, const struct rt_metrics *m, const struct rt_delta *d,
               bool has_no_gpu)
{
	bool busy = is_informative(delta_marks(d), RT_HAS_GPU, d->gpu_busy_ns) ||
	            (delta_marks(d).estimated & RT_HAS_GPU);
	bool memory = is_informative(metrics_marks(m), RT_HAS_GPU_MEMORY, m->gpu_memory_bytes);
	bool used = is_known(metrics_marks(m), RT_HAS_GPU);
	double interval_ns = (double)d->interval_ns;

	busy = busy && d->interval_ns > 0;
	if (has_no_gpu && !busy && !memory && !used) {
		cell_rounded(out, true, 0, 4);
		cell_rounded(out, true, 0, 4);
		cell_u64(out, true, 0);
		return;
	}
	cell_rounded(out, busy, busy ? (double)d->gpu_busy_ns / interval_ns : 0, 4);
	cell_rounded(out, memory, (double)m->gpu_memory_bytes / MIB, 4);
	cell_u64(out, used, m->gpus_used);
}

struct gpu_use gpu_use_of(const struct follow *f)
{
	struct gpu_use use = {
		.is_wanted = f->wants_gpu,
		.is_absent = f->wants_gpu && gpu_is_absent(f),
		.marks = metrics_marks(&f->now),
		.memory_peak_bytes = f->gpu_memory_peak_bytes,
		.gpus = f->gpus_most,
	};
	struct rt_delta since;

	if (rt_diff(&f->base, &f->now, &since, sizeof(since)) < 0)
		return use;
	use.busy_ns = since.gpu_busy_ns;
	use.energy_uj = since.gpu_energy_uj;
	return use;
}
