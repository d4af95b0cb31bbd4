/* SPDX-License-Identifier: MIT */
/* NVML on a thread of its own, since a driver that hangs never returns. */
#ifndef RTI_NVML_THREAD_H
#define RTI_NVML_THREAD_H

#include "gpu/nvml.h"
#include "os/context.h"
#include "os/thread/worker.h"

struct rti_nvml_setup {
	const char *library;    /* name or path */
	uint64_t first_wait_ns; /* how long the first look may take */
	uint64_t wait_ns;       /* how long later ones may */
};

struct rti_nvml_job;

/* Owned by the state of the collector. Zeroed memory is a valid start, and starts no thread. */
struct rti_nvml_thread {
	struct rti_worker *worker;
	struct rti_nvml_job *job;
	bool is_late;   /* the look of an earlier sample has not ended */
	bool was_asked; /* a look has been waited for */
};

/* Look at all devices, and wait for that as long as setup says. Does not wait for a look that an
 * earlier call has waited for. *out is owned by the thread, and lasts until the next call; readings
 * are empty on failure.
 *
 * Returns 0; -ETIMEDOUT if the driver hangs; or what rti_nvml_read() returns. */
int rti_nvml_thread_look(struct rti_nvml_thread *thread, const struct rti_context *ctx,
                         const struct rti_nvml_setup *setup, struct rti_nvml_want want,
                         const struct rti_gpu_readings **out);

/* Shut the library down, and end the thread. If the driver hangs, both are left behind. */
void rti_nvml_thread_stop(struct rti_nvml_thread *thread);

#endif
