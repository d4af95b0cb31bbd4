/* SPDX-License-Identifier: MIT */
/* libnvidia-ml.so.1, opened at run time: its functions, in all versions that there are.
 *
 * The layouts follow its stable ABI on 64-bit systems. So no header of the vendor is needed. */
#ifndef RTI_NVML_LIBRARY_H
#define RTI_NVML_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#define RTI_NVML_NAME "libnvidia-ml.so.1"

/* Results of its functions that need more than to be reported. */
enum {
	RTI_NVML_OK = 0,
	RTI_NVML_UNINITIALIZED = 1,
	RTI_NVML_NOT_SUPPORTED = 3,
	RTI_NVML_NO_PERMISSION = 4,
	RTI_NVML_NOT_FOUND = 6,
	RTI_NVML_TOO_SMALL = 7,
	RTI_NVML_NO_DRIVER = 9,
	RTI_NVML_TIMEOUT = 10,
	RTI_NVML_NO_LIBRARY = 12,
	RTI_NVML_NO_FUNCTION = 13,
	RTI_NVML_GPU_LOST = 15,
	RTI_NVML_RESET_REQUIRED = 16,
	RTI_NVML_OTHER_VERSION = 18,
	RTI_NVML_NO_MEMORY = 20,
	RTI_NVML_STRUCT_VERSION = 25,
	RTI_NVML_UNKNOWN = 999
};

/* Lists of processes. A process may be in several. */
enum rti_nvml_list { RTI_NVML_COMPUTE, RTI_NVML_MPS, RTI_NVML_GRAPHICS, RTI_NVML_LISTS };

/* Versions of the calls that list processes. */
#define RTI_NVML_VERSIONS 3

struct rti_nvml_pci {
	char bus_id_legacy[16];
	uint32_t domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct rti_nvml_utilization {
	uint32_t gpu, memory; /* percent */
};

struct rti_nvml_memory {
	uint64_t total, free, used;
};

/* used excludes what the driver keeps for itself, as in nvidia-smi(1). version: its size, and 2 in
 * the highest byte. */
struct rti_nvml_memory_v2 {
	uint32_t version, padding;
	uint64_t total, reserved, free, used;
};

struct rti_nvml_sample {
	uint32_t pid, padding;
	uint64_t timestamp_us;
	uint32_t sm, memory, encode, decode; /* percent */
};

/* A function that the library lacks is NULL, except the first four. */
struct rti_nvml_library {
	void *module;
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(uint32_t *count);
	int (*handle)(uint32_t index, void **device);
	int (*pci)(void *device, void *pci);
	int (*uuid)(void *device, char *text, uint32_t size);
	int (*name)(void *device, char *text, uint32_t size);
	int (*utilization)(void *device, struct rti_nvml_utilization *out);
	int (*memory_v2)(void *device, struct rti_nvml_memory_v2 *out);
	int (*memory)(void *device, struct rti_nvml_memory *out);
	int (*energy)(void *device, uint64_t *millijoules);
	/* From version 1 on. */
	int (*processes[RTI_NVML_LISTS][RTI_NVML_VERSIONS])(void *device, uint32_t *count,
	                                                    void *entries);
	int (*samples)(void *device, struct rti_nvml_sample *samples, uint32_t *count,
	               uint64_t newer_than_us);
	int (*mig_mode)(void *device, uint32_t *current, uint32_t *pending);
	int (*mig_count)(void *device, uint32_t *count);
	int (*mig_handle)(void *device, uint32_t index, void **instance);
};

/* Open the library. Does not initialise it. Returns 0; -ENOENT if there is none; or -EOPNOTSUPP if
 * it lacks a function that has always been there. */
int rti_nvml_library_open(struct rti_nvml_library *library, const char *name);

/* Close it. Does not shut it down. */
void rti_nvml_library_close(struct rti_nvml_library *library);

/* Returns what a result means as 0 or -errno. */
int rti_nvml_error(int result);

/* Whether the library has lost the driver or a device with this result, so that only a new start
 * can find it again. */
bool rti_nvml_is_lost(int result);

#endif
