/* SPDX-License-Identifier: MIT */
/* The most memory of GPUs that the members of a tree have held in a sample. */
#ifndef RTI_GPU_PEAK_H
#define RTI_GPU_PEAK_H

#include <stdint.h>

struct rti_gpu_peak {
	uint64_t bytes;
	uint64_t valid, partial, estimated; /* RT_HAS_GPU_MEMORY in one of them, if it is known */
};

#endif
