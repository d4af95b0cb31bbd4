/* SPDX-License-Identifier: MIT */
/* The GPUs that the driver of NVIDIA serves, by its library. */
#include "gpu/nvml.h"

#include <errno.h>
#include <stdlib.h>

#define PAUSE_MIN_NS UINT64_C(1000000000)
#define PAUSE_MAX_NS UINT64_C(60000000000)
#define DEVICES_MAX 1024u
#define CLOCK_LEAD_US UINT64_C(1000000) /* how far the driver's clock may be ahead of ours */

static int find_devices(struct rti_nvml *nvml)
{
	uint32_t count = 0;
	int err = rti_nvml_error(nvml->library.count(&count));

	if (err < 0)
		return err;
	if (count == 0)
		return -ENOENT;
	if (count > DEVICES_MAX)
		return -EBADMSG;
	nvml->devices = calloc(count, sizeof(*nvml->devices));
	if (!nvml->devices)
		return -ENOMEM;
	nvml->count = count;
	for (uint32_t i = 0; i < count; i++)
		rti_nvml_device_init(&nvml->library, i, &nvml->devices[i]);
	return 0;
}

static int start(struct rti_nvml *nvml, const char *name)
{
	int err = rti_nvml_library_open(&nvml->library, name);

	if (err < 0)
		return err;
	err = rti_nvml_error(nvml->library.init());
	if (err < 0) {
		rti_nvml_library_close(&nvml->library);
		return err;
	}
	nvml->is_open = true;
	err = find_devices(nvml);
	if (err < 0)
		rti_nvml_close(nvml);
	return err;
}

static void try_later(struct rti_nvml *nvml, uint64_t now_ns)
{
	if (nvml->pause_ns < PAUSE_MIN_NS)
		nvml->pause_ns = PAUSE_MIN_NS;
	nvml->retry_at_ns = now_ns + nvml->pause_ns;
	nvml->pause_ns = nvml->pause_ns < PAUSE_MAX_NS / 2 ? 2 * nvml->pause_ns : PAUSE_MAX_NS;
}

/* Have the library open, unless it is too early to try again. Returns 0 or -errno. */
static int be_open(struct rti_nvml *nvml, const char *name, uint64_t now_ns)
{
	if (nvml->has_lost && now_ns >= nvml->retry_at_ns)
		rti_nvml_close(nvml);
	if (nvml->is_open)
		return 0;
	if (nvml->err < 0 && now_ns < nvml->retry_at_ns)
		return nvml->err;
	nvml->err = start(nvml, name);
	if (nvml->err < 0)
		try_later(nvml, now_ns);
	return nvml->err;
}

/* The driver stamps its samples by the wall clock. If that is set back by an hour, all samples of
 * the next hour look older than one that was seen before, and each process looks idle. */
static void forget_the_future(struct rti_nvml *nvml)
{
	struct rti_now now;

	if (!nvml->now)
		return;
	nvml->now(&now);
	for (size_t i = 0; i < nvml->count; i++)
		if (nvml->devices[i].seen_us > now.realtime_ns / 1000 + CLOCK_LEAD_US)
			nvml->devices[i].seen_us = 0;
}

/* A device without a reading would be missing in sums that seem to be whole. */
static int read_devices(struct rti_nvml *nvml, struct rti_nvml_want want,
                        struct rti_gpu_readings *readings, bool *has_lost)
{
	*has_lost = false;
	for (size_t i = 0; i < nvml->count; i++) {
		int result = rti_nvml_device_read(&nvml->library, &nvml->devices[i], want,
		                                  &nvml->buffer, readings);

		if (result == RTI_NVML_NO_MEMORY)
			return -ENOMEM;
		*has_lost |= result != RTI_NVML_OK;
	}
	return 0;
}

int rti_nvml_read(struct rti_nvml *nvml, const char *name, uint64_t now_ns,
                  struct rti_nvml_want want, struct rti_gpu_readings *readings)
{
	bool has_lost;
	int err;

	rti_gpu_readings_clear(readings);
	readings->at_ns = now_ns;
	err = be_open(nvml, name, now_ns);
	if (err < 0)
		return err;
	forget_the_future(nvml);
	err = read_devices(nvml, want, readings, &has_lost);
	if (err < 0) {
		rti_gpu_readings_clear(readings);
		return err;
	}
	for (size_t i = 0; i < readings->gpu_count; i++)
		readings->gpu[i].at_ns = now_ns;
	if (has_lost && !nvml->has_lost)
		try_later(nvml, now_ns);
	else if (!has_lost)
		nvml->pause_ns = 0;
	nvml->has_lost = has_lost;
	return 0;
}

static void free_devices(struct rti_nvml *nvml)
{
	free(nvml->devices);
	nvml->devices = NULL;
	nvml->count = 0;
}

void rti_nvml_close(struct rti_nvml *nvml)
{
	if (nvml->is_open) {
		nvml->library.shutdown();
		rti_nvml_library_close(&nvml->library);
	}
	nvml->is_open = false;
	nvml->has_lost = false;
	free_devices(nvml);
}

void rti_nvml_abandon(struct rti_nvml *nvml)
{
	free_devices(nvml);
	rti_nvml_buffer_free(&nvml->buffer);
	*nvml = (struct rti_nvml){ 0 };
}
