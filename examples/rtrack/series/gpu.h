/* SPDX-License-Identifier: MIT */
/* GPUs: whether they are looked at, their columns, and what was used of them. */
#ifndef GPU_H
#define GPU_H

#include <rtrack/rtrack.h>

#include "follow/figures.h"
#include "follow/follow.h"
#include "text/text.h"

#define GPU_DOMAINS (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)

/* Returns true if there is no GPU, as far as the last sample shows; without option --gpu, as far as
 * the devices of this machine show. */
bool gpu_is_absent(const struct follow *f);

/* Write the columns gpu_usage (busy GPUs), gpu_vram (MiB) and gpu_utilized (GPUs in use). They are
 * 0 if there is no GPU, and unknown if they were not looked at. */
void gpu_cells(struct text *out, const struct rt_metrics *m, const struct rt_delta *d,
               bool has_no_gpu);

/* What was used of GPUs. */
struct gpu_use {
	bool is_wanted; /* else the rest says nothing */
	bool is_absent;
	struct marks marks;
	uint64_t busy_ns, energy_uj;
	uint64_t memory_peak_bytes; /* largest of a sample */
	uint64_t gpus;
};

/* Fill from the samples of a tracker. */
struct gpu_use gpu_use_of(const struct follow *f);

#endif
