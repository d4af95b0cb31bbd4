/* SPDX-License-Identifier: MIT */
/* One device of NVML: what is known of it, and its figures. */
#include "gpu/nvml_device.h"

#include <errno.h>
#include <string.h>

#include "util/decimal.h"

#define PARTITIONS_MAX 32u /* a device has 7 at most */
#define MIG_ENABLED 1u
#define MODE_HOLD_NS UINT64_C(10000000000)
#define TEXT_BYTES 96u /* NVML_DEVICE_UUID_V2_BUFFER_SIZE, which is the largest */
#define BUS_MAX 255u
#define SLOT_MAX 31u /* of a device on its bus */

/* Some texts are refused unless there is room for the longest possible one. E.g.: a UUID, which
 * mostly has 40 bytes, needs room for 80. */
static void read_text(int (*call)(void *device, char *text, uint32_t size), void *handle, char *out,
                      size_t size)
{
	char text[TEXT_BYTES + 1] = "";
	size_t len;

	if (!call || call(handle, text, TEXT_BYTES) != RTI_NVML_OK)
		text[0] = '\0';
	len = strnlen(text, size - 1);
	memcpy(out, text, len);
	out[len] = '\0';
}

static void read_names(const struct rti_nvml_library *library, void *handle,
                       struct rti_gpu_reading *known)
{
	read_text(library->name, handle, known->name, sizeof(known->name));
	read_text(library->uuid, handle, known->uuid, sizeof(known->uuid));
}

void rti_nvml_device_init(const struct rti_nvml_library *library, uint32_t index,
                          struct rti_nvml_device *device)
{
	/* Older versions of the struct are shorter, and begin alike. */
	struct rti_nvml_pci pci = { .domain = 0 };
	int result;

	*device = (struct rti_nvml_device){
		.known = { .is_nvml = true, .driver = "nvidia", .pci = RTI_NO_PCI_ADDRESS }
	};
	result = library->handle(index, &device->handle);
	device->err = rti_nvml_error(result);
	if (result != RTI_NVML_OK) {
		/* E.g.: "index 3", for a device that cannot be opened. */
		memcpy(device->known.name, "index ", 6);
		rti_decimal(device->known.name + 6, index);
		return;
	}
	read_names(library, device->handle, &device->known);
	if (library->pci && library->pci(device->handle, &pci) == RTI_NVML_OK &&
	    pci.domain != UINT32_MAX && pci.bus <= BUS_MAX && pci.device <= SLOT_MAX)
		device->known.pci = (struct rti_pci_address){ pci.domain, pci.bus, pci.device, 0 };
}

static int read_busy(const struct rti_nvml_library *library, void *handle,
                     struct rti_gpu_reading *gpu)
{
	struct rti_nvml_utilization utilization = { 0 };
	int result = library->utilization ? library->utilization(handle, &utilization)
	                                  : RTI_NVML_NO_FUNCTION;

	gpu->err[RTI_GPU_BUSY] = rti_nvml_error(result);
	if (result == RTI_NVML_OK && utilization.gpu > 100)
		gpu->err[RTI_GPU_BUSY] = -EBADMSG;
	gpu->busy_percent = gpu->err[RTI_GPU_BUSY] == 0 ? utilization.gpu : 0;
	return result;
}

static int read_memory(const struct rti_nvml_library *library, void *handle,
                       struct rti_gpu_reading *gpu)
{
	struct rti_nvml_memory_v2 v2 = { .version = sizeof(v2) | UINT32_C(2) << 24 };
	struct rti_nvml_memory v1 = { 0 };
	int result = library->memory_v2 ? library->memory_v2(handle, &v2) : RTI_NVML_NO_FUNCTION;

	if (rti_nvml_error(result) == -EOPNOTSUPP && library->memory) {
		result = library->memory(handle, &v1);
		v2.used = v1.used;
		v2.total = v1.total;
	}
	gpu->err[RTI_GPU_MEMORY] = rti_nvml_error(result);
	if (result != RTI_NVML_OK)
		return result;
	if (v2.total == UINT64_MAX || v2.used > v2.total) {
		gpu->err[RTI_GPU_MEMORY] = -EBADMSG;
		return result;
	}
	gpu->memory_used_bytes = v2.used;
	gpu->memory_total_bytes = v2.total;
	return result;
}

static int read_energy(const struct rti_nvml_library *library, void *handle,
                       struct rti_gpu_reading *gpu)
{
	uint64_t millijoules = 0;
	int result = library->energy ? library->energy(handle, &millijoules) : RTI_NVML_NO_FUNCTION;

	gpu->err[RTI_GPU_ENERGY] = rti_nvml_error(result);
	if (result == RTI_NVML_OK && millijoules > UINT64_MAX / 1000)
		gpu->err[RTI_GPU_ENERGY] = -EBADMSG;
	gpu->energy_uj = gpu->err[RTI_GPU_ENERGY] == 0 ? millijoules * 1000 : 0;
	return result;
}

/* The result that says more of the device. UNKNOWN counts for memory alone, which each device has:
 * some virtual ones have no utilization, and say it so. */
static int worse(int result, int next)
{
	if (result != RTI_NVML_OK)
		return result;
	return rti_nvml_is_lost(next) && next != RTI_NVML_UNKNOWN ? next : RTI_NVML_OK;
}

static int read_figures(const struct rti_nvml_library *library, void *handle,
                        struct rti_nvml_want want, struct rti_gpu_reading *gpu)
{
	int result = read_memory(library, handle, gpu);

	if (!rti_nvml_is_lost(result))
		result = RTI_NVML_OK;
	result = worse(result, read_busy(library, handle, gpu));
	gpu->err[RTI_GPU_ENERGY] = -EOPNOTSUPP;
	if (want.energy)
		result = worse(result, read_energy(library, handle, gpu));
	return result;
}

/* Ask whether a device is in MIG mode. It can be changed while the device is open. In it, no device
 * says how busy it is, so one that does is asked rarely. */
static void update_mig_mode(const struct rti_nvml_library *library, struct rti_nvml_device *device,
                            const struct rti_gpu_reading *gpu, uint64_t now_ns)
{
	uint32_t mode = 0, pending = 0;
	bool is_fresh = device->has_mode && now_ns - device->mode_at_ns < MODE_HOLD_NS;

	if (is_fresh && (device->is_split || gpu->err[RTI_GPU_BUSY] == 0))
		return;
	device->is_split = library->mig_mode && library->mig_count && library->mig_handle &&
	                   library->mig_mode(device->handle, &mode, &pending) == RTI_NVML_OK &&
	                   mode == MIG_ENABLED;
	device->has_mode = true;
	device->mode_at_ns = now_ns;
}

/* A partition has memory of its own. Its use of time is not measured. */
static int read_partition(const struct rti_nvml_library *library, void *handle,
                          const struct rti_gpu_reading *whole, struct rti_nvml_want want,
                          struct rti_nvml_buffer *buffer, struct rti_gpu_readings *readings)
{
	struct rti_gpu_reading known = *whole, *gpu = rti_gpu_add_reading(readings);

	if (!gpu)
		return RTI_NVML_NO_MEMORY;
	known.is_partition = true;
	read_names(library, handle, &known);
	*gpu = known;
	rti_gpu_fail(gpu, -EOPNOTSUPP);
	read_memory(library, handle, gpu);
	if (want.processes)
		rti_nvml_list_processes(library, handle, readings->gpu_count - 1, buffer, readings);
	return RTI_NVML_OK;
}

static int read_partitions(const struct rti_nvml_library *library, struct rti_nvml_device *device,
                           uint32_t count, struct rti_nvml_want want,
                           struct rti_nvml_buffer *buffer, struct rti_gpu_readings *readings)
{
	size_t before = readings->gpu_count;
	int result = RTI_NVML_OK;

	/* Numbers may have gaps. */
	for (uint32_t i = 0; i < count && i < PARTITIONS_MAX && result == RTI_NVML_OK; i++) {
		void *handle = NULL;

		if (library->mig_handle(device->handle, i, &handle) == RTI_NVML_OK && handle)
			result =
			    read_partition(library, handle, &device->known, want, buffer, readings);
	}
	/* It may have left that mode. */
	if (result == RTI_NVML_OK)
		device->has_mode = readings->gpu_count > before;
	return result;
}

int rti_nvml_device_read(const struct rti_nvml_library *library, struct rti_nvml_device *device,
                         struct rti_nvml_want want, struct rti_nvml_buffer *buffer,
                         struct rti_gpu_readings *readings)
{
	struct rti_gpu_reading *gpu = rti_gpu_add_reading(readings);
	size_t index = readings->gpu_count - 1;
	uint32_t partitions = 0;
	int result;

	if (!gpu)
		return RTI_NVML_NO_MEMORY;
	*gpu = device->known;
	if (device->err < 0) {
		rti_gpu_fail(gpu, device->err);
		return device->err == -EACCES ? RTI_NVML_OK : RTI_NVML_GPU_LOST;
	}
	result = read_figures(library, device->handle, want, gpu);
	if (result != RTI_NVML_OK) {
		rti_gpu_fail(gpu, rti_nvml_error(result));
		return result;
	}
	update_mig_mode(library, device, gpu, readings->at_ns);
	if (device->is_split && library->mig_count(device->handle, &partitions) == RTI_NVML_OK &&
	    partitions > 0)
		return read_partitions(library, device, partitions, want, buffer, readings);
	if (want.processes) {
		rti_nvml_list_processes(library, device->handle, index, buffer, readings);
		rti_nvml_sample_processes(library, device->handle, index, &device->seen_us, buffer,
		                          readings);
	}
	return RTI_NVML_OK;
}
