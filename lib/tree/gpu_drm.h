/* SPDX-License-Identifier: MIT */
/* What members use of GPUs by DRM drivers: the fdinfo of their descriptors. */
#ifndef RTI_GPU_DRM_H
#define RTI_GPU_DRM_H

#include "tree/gpu_state.h"
#include "tree/state.h"

/* A figure of a member is not known, for this reason; pid 0: of no single one. err 0: it is. */
void rti_gpu_note_unknown(struct rti_tree *tree, enum rti_gpu_domain domain, int err, int32_t pid);

/* Read the descriptors of all members that have such a GPU open. */
void rti_gpu_drm_read(struct rti_tree *tree);

#endif
