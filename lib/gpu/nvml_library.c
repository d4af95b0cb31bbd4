/* SPDX-License-Identifier: MIT */
/* libnvidia-ml.so.1, opened at run time: its functions, in all versions that there are. */
#include "gpu/nvml_library.h"

#include <errno.h>
#include <stddef.h>

#include "os/library.h"

_Static_assert(sizeof(struct rti_nvml_pci) == 68, "as the library has it");
_Static_assert(sizeof(struct rti_nvml_memory_v2) == 40, "as the library has it");
_Static_assert(sizeof(struct rti_nvml_sample) == 32, "as the library has it");

struct function {
	size_t at;            /* in struct rti_nvml_library */
	const char *names[3]; /* the newest first */
};

#define FUNCTION(member, ...)                                                                      \
	{                                                                                          \
		offsetof(struct rti_nvml_library, member),                                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

/* Those that have always been there come first. */
#define NEEDED 4

static const struct function functions[] = {
	FUNCTION(init, "nvmlInit_v2", "nvmlInit"),
	FUNCTION(shutdown, "nvmlShutdown"),
	FUNCTION(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
	FUNCTION(handle, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
	FUNCTION(pci, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"),
	FUNCTION(uuid, "nvmlDeviceGetUUID"),
	FUNCTION(name, "nvmlDeviceGetName"),
	FUNCTION(utilization, "nvmlDeviceGetUtilizationRates"),
	FUNCTION(memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	FUNCTION(memory, "nvmlDeviceGetMemoryInfo"),
	FUNCTION(energy, "nvmlDeviceGetTotalEnergyConsumption"),
	FUNCTION(samples, "nvmlDeviceGetProcessUtilization"),
	FUNCTION(mig_mode, "nvmlDeviceGetMigMode"),
	FUNCTION(mig_count, "nvmlDeviceGetMaxMigDeviceCount"),
	FUNCTION(mig_handle, "nvmlDeviceGetMigDeviceHandleByIndex"),
};

/* Each version is kept, since a library may have a function that its driver is too old for. */
static const char *const list_names[RTI_NVML_LISTS][RTI_NVML_VERSIONS] = {
	[RTI_NVML_COMPUTE] = { "nvmlDeviceGetComputeRunningProcesses",
	                       "nvmlDeviceGetComputeRunningProcesses_v2",
	                       "nvmlDeviceGetComputeRunningProcesses_v3" },
	[RTI_NVML_MPS] = { "nvmlDeviceGetMPSComputeRunningProcesses",
	                   "nvmlDeviceGetMPSComputeRunningProcesses_v2",
	                   "nvmlDeviceGetMPSComputeRunningProcesses_v3" },
	[RTI_NVML_GRAPHICS] = { "nvmlDeviceGetGraphicsRunningProcesses",
	                        "nvmlDeviceGetGraphicsRunningProcesses_v2",
	                        "nvmlDeviceGetGraphicsRunningProcesses_v3" },
};

/* Returns whether the library has the function in any version. */
static bool find_function(struct rti_nvml_library *library, const struct function *function)
{
	void (**member)(void) = (void (**)(void))(void *)((char *)library + function->at);

	for (int i = 0; i < 3 && function->names[i] && !*member; i++)
		rti_library_function(library->module, function->names[i], member);
	return *member != NULL;
}

int rti_nvml_library_open(struct rti_nvml_library *library, const char *name)
{
	int err;

	*library = (struct rti_nvml_library){ 0 };
	err = rti_library_open(name, &library->module);
	if (err < 0)
		return err;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!find_function(library, &functions[i]) && i < NEEDED) {
			rti_nvml_library_close(library);
			return -EOPNOTSUPP;
		}
	}
	for (int list = 0; list < RTI_NVML_LISTS; list++) {
		for (int version = 0; version < RTI_NVML_VERSIONS; version++)
			rti_library_function(library->module, list_names[list][version],
			                     &library->processes[list][version]);
	}
	return 0;
}

void rti_nvml_library_close(struct rti_nvml_library *library)
{
	rti_library_close(library->module);
	*library = (struct rti_nvml_library){ 0 };
}

int rti_nvml_error(int result)
{
	switch (result) {
	case RTI_NVML_OK:
		return 0;
	case RTI_NVML_NOT_SUPPORTED:
	case RTI_NVML_NO_FUNCTION:
	case RTI_NVML_STRUCT_VERSION:
		return -EOPNOTSUPP;
	case RTI_NVML_NO_PERMISSION:
		return -EACCES;
	case RTI_NVML_NO_DRIVER:
	case RTI_NVML_NO_LIBRARY:
		return -ENOENT;
	case RTI_NVML_TIMEOUT:
		return -ETIMEDOUT;
	case RTI_NVML_UNINITIALIZED:
	case RTI_NVML_GPU_LOST:
	case RTI_NVML_RESET_REQUIRED:
		return -ENODEV;
	case RTI_NVML_OTHER_VERSION:
		return -EPROTONOSUPPORT;
	case RTI_NVML_NO_MEMORY:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

/* After the driver was unloaded, handles of before give UNKNOWN. */
bool rti_nvml_is_lost(int result)
{
	return result == RTI_NVML_UNINITIALIZED || result == RTI_NVML_NO_DRIVER ||
	       result == RTI_NVML_GPU_LOST || result == RTI_NVML_RESET_REQUIRED ||
	       result == RTI_NVML_OTHER_VERSION || result == RTI_NVML_UNKNOWN;
}
