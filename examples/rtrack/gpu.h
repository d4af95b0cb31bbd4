/* SPDX-License-Identifier: MIT */
/* GPUs of the system: a tracker that looks at them, and their columns. */
#ifndef GPU_H
#define GPU_H

#include <rtrack/rtrack.h>

#include "format.h"

/* Make a tracker of the system with all domains, those of GPUs included. Returns as
 * rt_system_tracker_new(). */
int gpu_system_tracker_new(struct rt_tracker **out);

/* Returns true if there is no GPU, as far as the last sample of a tracker shows. */
bool gpu_is_absent(const struct rt_tracker *tracker);

/* Write the columns gpu_usage (busy GPUs), gpu_vram (MiB) and gpu_utilized (GPUs in use) of the
 * system. They are 0 if there is no GPU. */
void gpu_cells(struct text *out, const struct row *row);

#endif
