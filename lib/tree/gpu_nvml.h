/* SPDX-License-Identifier: MIT */
/* What members use of the GPUs of NVIDIA, by the library of their driver. */
#ifndef RTI_GPU_NVML_H
#define RTI_GPU_NVML_H

#include "tree/gpu_state.h"
#include "tree/state.h"

/* Ask the library, if a member has such a GPU open: it is not opened before, and no GPU is woken.
 * Returns 0 or the -errno for which the figures of these members are missing. */
int rti_gpu_nvml_read(struct rti_tree *tree);

#endif
