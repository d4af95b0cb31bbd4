/* SPDX-License-Identifier: MIT */
/* What one look at the GPUs of the machine shows, whichever interface it came from. */
#ifndef RTI_GPU_READING_H
#define RTI_GPU_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parse/pci_address.h"

enum rti_gpu_figure { RTI_GPU_BUSY, RTI_GPU_MEMORY, RTI_GPU_ENERGY, RTI_GPU_FIGURES };

/* One device; or one partition of the device before it, which shares its address.
 * Invariant: a figure is known if and only if its err is 0. */
struct rti_gpu_reading {
	char name[64], uuid[64], driver[32];
	struct rti_pci_address pci;
	bool is_partition;
	bool is_nvml;             /* by NVML; else by the files of its DRM driver */
	int err[RTI_GPU_FIGURES]; /* 0, or the -errno for which a figure is missing */
	uint32_t busy_percent;    /* of the time since shortly before; 100 at most */
	uint64_t memory_used_bytes, memory_total_bytes;
	uint64_t energy_uj; /* since the driver was loaded */
	uint64_t at_ns;     /* monotonic time of the look */
};

/* What one process does on one device. */
struct rti_gpu_use {
	size_t gpu;      /* index of its reading */
	int32_t pid;     /* in the initial pid namespace */
	bool is_compute; /* it computes there, and does not only draw */
	bool has_busy, has_memory;
	bool is_doubtful;                                      /* a sample of it was impossible */
	uint32_t busy_percent, encode_percent, decode_percent; /* 100 at most each */
	uint64_t sampled_at_us; /* when, by the clock of the driver; 0: idle */
	uint64_t memory_bytes;
};

/* The arrays grow and are used again. Zeroed memory is a valid start. */
struct rti_gpu_readings {
	struct rti_gpu_reading *gpu;
	struct rti_gpu_use *use;
	size_t gpu_count, gpu_room;
	size_t use_count, use_room;
	int use_err;    /* 0, or the -errno for which uses are missing */
	uint64_t at_ns; /* monotonic time of the look */
};

/* Add an entry, with everything 0. Returns NULL if memory is short. */
struct rti_gpu_reading *rti_gpu_add_reading(struct rti_gpu_readings *readings);
struct rti_gpu_use *rti_gpu_add_use(struct rti_gpu_readings *readings);

/* Set the error of all figures. */
void rti_gpu_fail(struct rti_gpu_reading *gpu, int err);

void rti_gpu_readings_clear(struct rti_gpu_readings *readings);
void rti_gpu_readings_free(struct rti_gpu_readings *readings);

#endif
