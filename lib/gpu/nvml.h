/* SPDX-License-Identifier: MIT */
/* The GPUs that the driver of NVIDIA serves, by its library.
 *
 * Any of these calls may block for as long as the driver does. So they belong on a thread of their
 * own (os/thread/worker.h). */
#ifndef RTI_NVML_H
#define RTI_NVML_H

#include "gpu/nvml_device.h"
#include "gpu/reading.h"
#include "os/platform.h"

/* Written by nvml.c, except now. Zeroed memory is a valid start. */
struct rti_nvml {
	void (*now)(struct rti_now *out); /* NULL: the wall clock is unknown */
	struct rti_nvml_library library;
	struct rti_nvml_device *devices;
	size_t count;
	struct rti_nvml_buffer buffer;
	bool is_open;         /* the library is open and initialised */
	bool has_lost;        /* a device is lost, so the library has to start again */
	int err;              /* of the last start; 0 or -errno */
	uint64_t retry_at_ns; /* not before this time */
	uint64_t pause_ns;    /* until the next try, if that fails */
};

/* Look at all devices. Opens the library if it is not open, and starts it again if a device is
 * lost: a second after the first failure, then after twice as long each time, up to a minute.
 *
 * name is RTI_NVML_NAME, or a path. Returns 0; -ENOENT without library, driver or device; -EACCES;
 * -EPROTONOSUPPORT if library and driver are of different releases; or another -errno. Then
 * readings are empty. */
int rti_nvml_read(struct rti_nvml *nvml, const char *name, uint64_t now_ns,
                  struct rti_nvml_want want, struct rti_gpu_readings *readings);

/* Shut the library down and close it. */
void rti_nvml_close(struct rti_nvml *nvml);

/* Free the memory, and leave the library as it is. E.g.: in a child after fork(). */
void rti_nvml_abandon(struct rti_nvml *nvml);

#endif
