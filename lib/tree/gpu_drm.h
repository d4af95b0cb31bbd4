/* SPDX-License-Identifier: MIT */
/* What members use of GPUs by DRM drivers: the fdinfo of their descriptors. */
#ifndef RTI_GPU_DRM_H
#define RTI_GPU_DRM_H

#include "tree/state.h"

/* Read the descriptors of all members that have such a GPU open. */
void rti_gpu_drm_read(struct rti_tree *tree);

#endif
