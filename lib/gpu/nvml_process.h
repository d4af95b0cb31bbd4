/* SPDX-License-Identifier: MIT */
/* The processes that use a device, as NVML lists them. */
#ifndef RTI_NVML_PROCESS_H
#define RTI_NVML_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "gpu/nvml_library.h"
#include "gpu/reading.h"

/* Where the library writes its lists. Grows, and is used again. Zeroed memory is a valid start. */
struct rti_nvml_buffer {
	void *data;
	size_t room; /* bytes */
};

/* Add the processes of a device, each once, to readings; gpu is the index of its reading there. A
 * process is left out if its pid cannot be one. Sets use_err of the readings if a list is refused.
 *
 * Returns the result of the call that failed, or RTI_NVML_OK. */
int rti_nvml_list_processes(const struct rti_nvml_library *library, void *device, size_t gpu,
                            struct rti_nvml_buffer *buffer, struct rti_gpu_readings *readings);

/* Add to the uses of a device the share of time of each process. *seen_us is the time of the newest
 * sample so far, and moves on. Leaves out samples that are older, of processes that are not listed,
 * or above 100 %. Not for a device in MIG mode. */
void rti_nvml_sample_processes(const struct rti_nvml_library *library, void *device, size_t gpu,
                               uint64_t *seen_us, struct rti_nvml_buffer *buffer,
                               struct rti_gpu_readings *readings);

void rti_nvml_buffer_free(struct rti_nvml_buffer *buffer);

#endif
