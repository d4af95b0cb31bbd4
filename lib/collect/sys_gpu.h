/* SPDX-License-Identifier: MIT */
/* What tests can change about the GPU collector. */
#ifndef RTI_SYS_GPU_H
#define RTI_SYS_GPU_H

#include "collect/nvml_thread.h"

/* Replace the setup of a collector. Call this between open() and the first collect(). setup must
 * live as long as the state. */
void rti_sys_gpu_set_up(void *state, const struct rti_nvml_setup *setup);

#endif
