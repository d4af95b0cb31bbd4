/* SPDX-License-Identifier: MIT */
/* A libnvidia-ml.so.1 of which each call that has a figure takes a given time. It has GPUs that are
 * half busy, and one process on each: the caller. */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define DECLARE(name, ...)                                                                         \
	API int name(__VA_ARGS__);                                                                 \
	API int name(__VA_ARGS__)

struct entry {
	uint32_t pid, padding;
	uint64_t bytes;
	uint32_t instance, compute_instance;
};

struct sample {
	uint32_t pid, padding;
	uint64_t timestamp_us;
	uint32_t sm, memory, encode, decode;
};

extern uint64_t timed_nvml_call_ns, timed_nvml_calls;
extern uint32_t timed_nvml_gpus;
API uint64_t timed_nvml_call_ns, timed_nvml_calls;
API uint32_t timed_nvml_gpus = 1;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As a driver does in the kernel, it uses CPU time, and does not sleep. */
static int work(void)
{
	uint64_t until_ns =
	    timed_nvml_call_ns ? now_ns(CLOCK_THREAD_CPUTIME_ID) + timed_nvml_call_ns : 0;

	timed_nvml_calls++;
	while (until_ns && now_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
	return 0;
}

DECLARE(nvmlInit_v2, void)
{
	return 0;
}

DECLARE(nvmlShutdown, void)
{
	return 0;
}

DECLARE(nvmlDeviceGetCount_v2, uint32_t *count)
{
	*count = timed_nvml_gpus;
	return 0;
}

DECLARE(nvmlDeviceGetHandleByIndex_v2, uint32_t index, void **device)
{
	*device = (void *)(uintptr_t)(index + 1);
	return 0;
}

DECLARE(nvmlDeviceGetPciInfo_v3, void *device, uint32_t *out)
{
	out[4] = out[6] = 0;
	out[5] = (uint32_t)(uintptr_t)device;
	return 0;
}

DECLARE(nvmlDeviceGetUUID, void *device, char *text, uint32_t size)
{
	(void)size;
	strcpy(text, "GPU-0");
	text[4] = (char)('0' + (uintptr_t)device);
	return 0;
}

DECLARE(nvmlDeviceGetName, void *device, char *text, uint32_t size)
{
	(void)device;
	(void)size;
	strcpy(text, "GPU");
	return 0;
}

DECLARE(nvmlDeviceGetUtilizationRates, void *device, uint32_t *out)
{
	(void)device;
	out[0] = out[1] = 50;
	return work();
}

DECLARE(nvmlDeviceGetMemoryInfo_v2, void *device, uint64_t *out)
{
	(void)device;
	out[1] = 1 << 30;
	out[2] = 0;
	out[3] = out[4] = 1 << 29;
	return work();
}

DECLARE(nvmlDeviceGetTotalEnergyConsumption, void *device, uint64_t *out)
{
	(void)device;
	*out = now_ns(CLOCK_MONOTONIC) / 1000;
	return work();
}

DECLARE(nvmlDeviceGetMigMode, void *device, uint32_t *current, uint32_t *pending)
{
	(void)device;
	*current = *pending = 0;
	return work();
}

DECLARE(nvmlDeviceGetMaxMigDeviceCount, void *device, uint32_t *count)
{
	(void)device;
	*count = 7;
	return work();
}

DECLARE(nvmlDeviceGetMigDeviceHandleByIndex, void *device, uint32_t index, void **out)
{
	(void)device;
	(void)index;
	(void)out;
	work();
	return 6;
}

DECLARE(nvmlDeviceGetComputeRunningProcesses_v3, void *device, uint32_t *count, struct entry *out)
{
	(void)device;
	*count = 1;
	*out = (struct entry){ .pid = (uint32_t)getpid(), .bytes = 1 << 20 };
	return work();
}

DECLARE(nvmlDeviceGetMPSComputeRunningProcesses_v3, void *device, uint32_t *count, void *out)
{
	(void)device;
	(void)out;
	*count = 0;
	return work();
}

DECLARE(nvmlDeviceGetGraphicsRunningProcesses_v3, void *device, uint32_t *count, void *out)
{
	(void)device;
	(void)out;
	*count = 0;
	return work();
}

DECLARE(nvmlDeviceGetProcessUtilization, void *device, struct sample *out, uint32_t *count,
        uint64_t newer_than_us)
{
	(void)device;
	(void)newer_than_us;
	*count = 1;
	*out = (struct sample){ .pid = (uint32_t)getpid(),
		                .timestamp_us = now_ns(CLOCK_REALTIME) / 1000,
		                .sm = 50 };
	return work();
}
