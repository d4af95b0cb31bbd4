/* SPDX-License-Identifier: MIT */
/* rtrack info: which GPUs are found, by which interface, and why not by the others. */
#ifndef GPU_INFO_H
#define GPU_INFO_H

#include <rtrack/rtrack.h>

#include "text/text.h"

enum { GPU_INTERFACES = 3, GPU_INFO_MAX = 64 };

struct gpu_info {
	struct rt_gpu gpu[GPU_INFO_MAX];
	size_t count;
	struct gpu_interface {
		const char *name, *about;
		char problem[256]; /* empty: it works */
	} interface[GPU_INTERFACES];
};

/* Find out by a tracker of the system that was asked for GPUs, and has been sampled. NULL: there is
 * none. */
void gpu_info_get(struct gpu_info *info, const struct rt_tracker *tracker);

/* Write the devices: a line for each, or an array. */
void gpu_info_text(struct text *out, const struct gpu_info *info);
void gpu_info_json(struct text *out, const char *key, const struct gpu_info *info);

#endif
