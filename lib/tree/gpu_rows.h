/* SPDX-License-Identifier: MIT */
/* The rows of GPUs, and of the members that use them: what one sample adds up. */
#ifndef RTI_GPU_ROWS_H
#define RTI_GPU_ROWS_H

#include "tree/gpu_state.h"

/* Begin the rows of a sample. */
void rti_gpu_rows_begin(struct rti_tree_gpu *gpu);

/* Find the row of a device, or add it. Returns its index, or -ENOMEM. */
int rti_gpu_rows_add_device(struct rti_tree_gpu *gpu, const struct rti_gpu_reading *reading);

/* Add what a member uses by a DRM client on the device of a row. start_ticks is of the member.
 * Returns 0 or -ENOMEM. */
int rti_gpu_rows_add_client(struct rti_tree_gpu *gpu, size_t row, int32_t pid, uint64_t start_ticks,
                            const struct rti_drm_look *look);

/* Add what a member uses by NVML. Returns 0 or -ENOMEM. */
int rti_gpu_rows_add_use(struct rti_tree_gpu *gpu, size_t row, uint64_t start_ticks,
                         const struct rti_gpu_use *use, uint64_t at_ns);

/* Fill in the devices what members use of them. is_whole: no use is known to be missing. */
void rti_gpu_rows_end(struct rti_tree_gpu *gpu, bool is_whole);

/* Fill the sums over the devices. */
void rti_gpu_rows_sum(const struct rti_tree_gpu *gpu, struct rt_metrics *out);

#endif
