/* SPDX-License-Identifier: MIT */
/* The rows of GPUs, and of the members that use them: what one sample adds up from its two sources,
 * and what it does not know. */
#ifndef RTI_GPU_ROWS_H
#define RTI_GPU_ROWS_H

#include "tree/gpu/gpu_state.h"
#include "tree/state/state.h"

/* --- The sources --- */

/* Read the descriptors of all members that have a GPU of a DRM driver open (gpu_drm.c). */
void rti_gpu_drm_read(struct rti_tree *tree);

/* Ask the library of NVIDIA's driver, if a member has such a GPU open: it is not opened before, and
 * no GPU is woken (gpu_nvml.c). Returns 0 or the -errno for which the figures of these members are
 * missing. */
int rti_gpu_nvml_read(struct rti_tree *tree);

/* --- The rows --- */

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

/* --- What is not known --- */

/* A figure of a member is not known, for this reason; pid 0: of no single one. err 0: it is. */
void rti_gpu_note_unknown(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                          enum rti_gpu_domain domain, int err, int32_t pid);

/* The same of all figures. */
void rti_gpu_note_all_unknown(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                              int err, int32_t pid);

#endif
