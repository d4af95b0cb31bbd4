/* SPDX-License-Identifier: MIT */
/* What is not known of the GPUs of a tree, and why. */
#ifndef RTI_GPU_UNKNOWN_H
#define RTI_GPU_UNKNOWN_H

#include "tree/gpu_state.h"
#include "tree/state.h"

/* A figure of a member is not known, for this reason; pid 0: of no single one. err 0: it is. */
void rti_gpu_note_unknown(struct rti_tree *tree, enum rti_gpu_domain domain, int err, int32_t pid);

/* The same of all figures. */
void rti_gpu_note_all_unknown(struct rti_tree *tree, int err, int32_t pid);

#endif
