/* SPDX-License-Identifier: MIT */
/* Prints each GPU and what it did in one second, and the processes that use it. Figures that are
 * unknown are left out. */
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define GPUS_MAX 64
#define PROCESSES_MAX 256
#define WANT (RT_HAS_GPU | RT_HAS_GPU_MEMORY)

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void print_gpus(const struct rt_tracker *tracker)
{
	struct rt_gpu gpus[GPUS_MAX];
	size_t count = GPUS_MAX;

	if (rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count))
		return;
	for (size_t i = 0; i < count && i < GPUS_MAX; i++) {
		printf("gpu %u: %s by %s", gpus[i].id, gpus[i].name, gpus[i].driver);
		if (RT_IS_KNOWN(&gpus[i], RT_HAS_GPU))
			printf(", %.0f %% busy", 100 * gpus[i].busy_share);
		if (RT_IS_KNOWN(&gpus[i], RT_HAS_GPU_MEMORY))
			printf(", %.1f of %.1f MiB", mib(gpus[i].memory_used_bytes),
			       mib(gpus[i].memory_total_bytes));
		printf("%s\n", gpus[i].flags & RT_ITEM_PARTITION ? " (a partition)" : "");
	}
}

static void print_processes(const struct rt_tracker *tracker)
{
	struct rt_gpu_process rows[PROCESSES_MAX];
	size_t count = PROCESSES_MAX;

	if (rt_tracker_gpu_processes(tracker, rows, sizeof(rows[0]), &count))
		return;
	for (size_t i = 0; i < count && i < PROCESSES_MAX; i++) {
		printf("process %d on gpu %u:", (int)rows[i].pid, rows[i].gpu_id);
		if (RT_IS_KNOWN(&rows[i], RT_HAS_GPU))
			printf(" %.3f s", (double)(rows[i].render_ns + rows[i].compute_ns) / 1e9);
		if (RT_IS_KNOWN(&rows[i], RT_HAS_GPU_MEMORY))
			printf(" %.1f MiB", mib(rows[i].memory_bytes));
		printf("\n");
	}
}

int main(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = WANT };
	struct rt_tracker *tracker;
	struct rt_metrics now;
	struct rt_obstacle why;
	int err = rt_system_tracker_new(&tracker, &opts);

	for (int i = 0; !err && i < 2; i++) {
		err = rt_sample(tracker, &now, sizeof(now));
		if (!err && i == 0)
			sleep(1);
	}
	if (err) {
		fprintf(stderr, "gpus: %s\n", rt_strerror(err));
		rt_tracker_free(tracker);
		return 1;
	}
	print_gpus(tracker);
	print_processes(tracker);
	if (rt_tracker_obstacle(tracker, RT_HAS_GPU_MEMORY, &why, sizeof(why)) == 0 && why.error)
		printf("%s\n", why.text);
	rt_tracker_free(tracker);
	return 0;
}
