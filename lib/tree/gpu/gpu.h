/* SPDX-License-Identifier: MIT */
/* GPUs of a tree: the time of their engines that members used, and the memory that members hold.
 *
 * DRM drivers report both for each client, which is one opening of a device, in fdinfo. The library
 * of NVIDIA's driver reports both for each process, and only the share of the last moments, so its
 * time is added up. What departed members used stays in the totals, which only grow. */
#ifndef RTI_TREE_GPU_H
#define RTI_TREE_GPU_H

#include "collect/nvml_thread.h"
#include "tree/gpu/gpu_peak.h"
#include "tree/state/state.h"

/* If the tree wants GPUs, make room for them. Opens nothing. Returns 0 or -ENOMEM. */
int rti_tree_gpu_init(struct rti_tree *tree);
void rti_tree_gpu_free(struct rti_tree *tree);

/* Look at the GPUs of all members. After their exits were accounted for. */
void rti_tree_gpu_sample(struct rti_tree *tree);

/* Fill the figures of the sample, and note what is missing. */
void rti_tree_gpu_set_figures(struct rti_tree *tree, struct rt_metrics *out);

/* Returns the largest memory of all samples. */
struct rti_gpu_peak rti_tree_gpu_peak(const struct rti_tree *tree);

/* For tests: replace the setup of NVML, which must live as long as the tree. */
void rti_tree_gpu_set_up(struct rti_tree *tree, const struct rti_nvml_setup *setup);

#endif
