/* SPDX-License-Identifier: MIT */
/* One device of NVML: what is known of it, and its figures. */
#ifndef RTI_NVML_DEVICE_H
#define RTI_NVML_DEVICE_H

#include "gpu/nvml_library.h"
#include "gpu/nvml_process.h"
#include "gpu/reading.h"

struct rti_nvml_device {
	void *handle;
	int err;                      /* 0, or the -errno for which there is no handle */
	struct rti_gpu_reading known; /* what does not change */
	uint64_t seen_us;             /* time of the newest sample of a process */
	bool has_mode, is_split;      /* it was asked for its MIG mode; it is in that mode */
	uint64_t mode_at_ns;
};

/* What a look reads. */
struct rti_nvml_want {
	bool energy, processes;
};

/* Find a device by its index. */
void rti_nvml_device_init(const struct rti_nvml_library *library, uint32_t index,
                          struct rti_nvml_device *device);

/* Add the readings of a device and of its partitions. Returns RTI_NVML_OK; RTI_NVML_NO_MEMORY if
 * some could not be added; or a result with which the device is lost. */
int rti_nvml_device_read(const struct rti_nvml_library *library, struct rti_nvml_device *device,
                         struct rti_nvml_want want, struct rti_nvml_buffer *buffer,
                         struct rti_gpu_readings *readings);

#endif
