/* SPDX-License-Identifier: MIT */
/* What a sample of the system's GPUs costs, beside the calls of the driver's library that have the
 * same figures.
 *
 *	bench-gpu-cost [ROUNDS]
 *
 * The library is timed_nvml.c, found by LD_LIBRARY_PATH. In each round, both are done in turn, so
 * what else the machine does is alike for both. The lower quartile counts: other work only adds to
 * a time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define ROUNDS_MAX 2001
#define GPUS_MAX 8
#define WANT (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)
#define LIMIT 1.1

struct driver {
	uint64_t *call_ns, *calls;
	uint32_t *gpus;
	int (*handle)(uint32_t index, void **device);
	int (*memory)(void *device, uint64_t *out);
	int (*busy)(void *device, uint32_t *out);
	int (*energy)(void *device, uint64_t *out);
	int (*list[3])(void *device, uint32_t *count, void *out);
	int (*samples)(void *device, void *out, uint32_t *count, uint64_t newer_than_us);
	void *device[GPUS_MAX];
};

static void find(void *library, const char *name, void *out)
{
	*(void **)out = dlsym(library, name);
	if (!*(void **)out) {
		printf("Bail out! the library has no %s\n", name);
		exit(1);
	}
}

static void open_driver(struct driver *d)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	find(library, "timed_nvml_call_ns", &d->call_ns);
	find(library, "timed_nvml_calls", &d->calls);
	find(library, "timed_nvml_gpus", &d->gpus);
	find(library, "nvmlDeviceGetHandleByIndex_v2", &d->handle);
	find(library, "nvmlDeviceGetMemoryInfo_v2", &d->memory);
	find(library, "nvmlDeviceGetUtilizationRates", &d->busy);
	find(library, "nvmlDeviceGetTotalEnergyConsumption", &d->energy);
	find(library, "nvmlDeviceGetComputeRunningProcesses_v3", &d->list[0]);
	find(library, "nvmlDeviceGetMPSComputeRunningProcesses_v3", &d->list[1]);
	find(library, "nvmlDeviceGetGraphicsRunningProcesses_v3", &d->list[2]);
	find(library, "nvmlDeviceGetProcessUtilization", &d->samples);
	for (uint32_t i = 0; i < GPUS_MAX; i++)
		d->handle(i, &d->device[i]);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Wall time of the calls that have the figures of a sample, and their CPU time. */
static double time_driver(const struct driver *d, double *cpu_ns)
{
	static uint64_t room[64 * 4], figures[5];
	uint64_t start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint32_t count, percent[2];

	for (uint32_t i = 0; i < *d->gpus; i++) {
		d->memory(d->device[i], figures);
		d->busy(d->device[i], percent);
		d->energy(d->device[i], figures);
		for (int list = 0; list < 3; list++) {
			count = 64;
			d->list[list](d->device[i], &count, room);
		}
		count = 64;
		d->samples(d->device[i], room, &count, 0);
	}
	*cpu_ns = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	return (double)(now_ns(CLOCK_MONOTONIC) - start);
}

/* Wall time of a sample, and the CPU time of all threads. A sample on a machine that has much else
 * to do may come without figures, as if the driver hung: then takes another one. */
static double time_sample(struct rt_tracker *tracker, double *cpu_ns)
{
	struct rt_metrics m = { .valid = 0 };
	uint64_t start = 0, cpu = 0;

	for (int i = 0; i < 1000 && !(m.valid & RT_HAS_GPU_MEMORY); i++) {
		if (i > 0)
			usleep(10000);
		start = now_ns(CLOCK_MONOTONIC);
		cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		rt_sample(tracker, &m, sizeof(m));
	}
	if (!(m.valid & RT_HAS_GPU_MEMORY)) {
		printf("Bail out! no sample has figures\n");
		exit(1);
	}
	*cpu_ns = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	return (double)(now_ns(CLOCK_MONOTONIC) - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double lower_quartile(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 4];
}

/* CPU times are compared, since a machine with much else to do lengthens the wall times. */
static void report(uint32_t gpus, uint64_t call_ns, const double us[4], double calls)
{
	double ratio = us[3] / us[1];

	printf("# %u GPU%s, %3u us a call: driver %7.1f us (CPU %7.1f), sample %7.1f us (CPU "
	       "%7.1f), CPU %+.1f us, x %.2f%s; %.2f calls for each of the driver's\n",
	       gpus, gpus > 1 ? "s" : " ", (unsigned)(call_ns / 1000), us[0], us[1], us[2], us[3],
	       us[3] - us[1], ratio, call_ns && ratio > LIMIT ? ", above the limit" : "",
	       calls / (7.0 * gpus));
}

static void measure(const struct driver *d, uint32_t gpus, uint64_t call_ns, int rounds)
{
	static double times[4][ROUNDS_MAX];
	const struct rt_opts opts = { .size = sizeof(opts), .want = WANT };
	struct rt_tracker *tracker;
	double us[4], calls = 0;

	*d->gpus = gpus;
	*d->call_ns = call_ns;
	if (rt_system_tracker_new(&tracker, &opts) != 0)
		exit(1);
	time_sample(tracker, &times[3][0]); /* the first one opens the library */
	for (int i = 0; i < rounds; i++) {
		times[0][i] = time_driver(d, &times[1][i]);
		*d->calls = 0;
		times[2][i] = time_sample(tracker, &times[3][i]);
		calls += (double)*d->calls / rounds;
	}
	rt_tracker_free(tracker);
	for (int i = 0; i < 4; i++)
		us[i] = lower_quartile(times[i], rounds) / 1e3;
	report(gpus, call_ns, us, calls);
}

int main(int argc, char **argv)
{
	static const uint64_t calls_ns[] = { 0, 20000, 50000, 200000 };
	static const uint32_t gpus[] = { 1, GPUS_MAX };
	int rounds = argc > 1 ? atoi(argv[1]) : 11;
	struct driver driver;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	open_driver(&driver);
	for (size_t g = 0; g < sizeof(gpus) / sizeof(gpus[0]); g++)
		for (size_t c = 0; c < sizeof(calls_ns) / sizeof(calls_ns[0]); c++)
			measure(&driver, gpus[g], calls_ns[c], rounds);
	printf("ok 1 - samples of GPUs were measured\n1..1\n");
	return 0;
}
