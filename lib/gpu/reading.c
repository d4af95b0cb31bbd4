/* SPDX-License-Identifier: MIT */
/* What one look at the GPUs of the machine shows, whichever interface it came from. */
#include "gpu/reading.h"

#include <stdlib.h>

#include "util/array.h"

struct rti_gpu_reading *rti_gpu_add_reading(struct rti_gpu_readings *readings)
{
	struct rti_gpu_reading *gpu = rti_array_grow(readings->gpu, &readings->gpu_room,
	                                             readings->gpu_count + 1, sizeof(*gpu));

	if (!gpu)
		return NULL;
	readings->gpu = gpu;
	gpu = &readings->gpu[readings->gpu_count++];
	*gpu = (struct rti_gpu_reading){ .pci = RTI_NO_PCI_ADDRESS };
	return gpu;
}

struct rti_gpu_use *rti_gpu_add_use(struct rti_gpu_readings *readings)
{
	struct rti_gpu_use *use = rti_array_grow(readings->use, &readings->use_room,
	                                         readings->use_count + 1, sizeof(*use));

	if (!use)
		return NULL;
	readings->use = use;
	use = &readings->use[readings->use_count++];
	*use = (struct rti_gpu_use){ 0 };
	return use;
}

void rti_gpu_fail(struct rti_gpu_reading *gpu, int err)
{
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++)
		gpu->err[figure] = err;
}

void rti_gpu_readings_clear(struct rti_gpu_readings *readings)
{
	readings->gpu_count = 0;
	readings->use_count = 0;
	readings->use_err = 0;
}

void rti_gpu_readings_free(struct rti_gpu_readings *readings)
{
	free(readings->gpu);
	free(readings->use);
	*readings = (struct rti_gpu_readings){ 0 };
}
