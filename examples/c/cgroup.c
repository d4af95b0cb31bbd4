/* SPDX-License-Identifier: MIT */
/* Follows a service or a container, e.g. /system.slice/cron.service: a line a second until it ends.
 * Of a figure that is unknown it says why. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

static void print_memory(const struct rt_metrics *now)
{
	printf("  %.1f MiB", (double)now->cgroup_memory_bytes / (1 << 20));
	if (now->cgroup_memory_limit_bytes != UINT64_MAX)
		printf(" of %.1f", (double)now->cgroup_memory_limit_bytes / (1 << 20));
}

static void print_second(const struct rt_metrics *now, const struct rt_delta *used)
{
	printf("%4" PRIu64 " processes", now->processes);
	if (RT_IS_KNOWN(used, RT_HAS_CPU))
		printf("  %.2f cores", used->cores_used);
	if (RT_IS_KNOWN(now, RT_HAS_CGROUP_MEMORY))
		print_memory(now);
	if (RT_IS_KNOWN(used, RT_HAS_CGROUP_CPU))
		printf("  throttled for %.3f s", (double)used->cgroup_cpu_throttled_ns / 1e9);
	printf("\n");
}

static void print_missing(const struct rt_tracker *tracker, const struct rt_metrics *now)
{
	const uint64_t expected[] = { RT_HAS_CPU, RT_HAS_CGROUP_MEMORY, RT_HAS_CGROUP_CPU };
	struct rt_obstacle why;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (RT_QUALITY(now, expected[i]) != RT_QUALITY_EXACT &&
		    rt_tracker_obstacle(tracker, expected[i], &why, sizeof(why)) == 0)
			fprintf(stderr, "%s\n", why.text);
}

int main(int argc, char **argv)
{
	char message[256] = "";
	struct rt_opts opts = { .size = sizeof(opts),
		                .message = message,
		                .message_size = sizeof(message) };
	struct rt_tracker *tracker;
	struct rt_metrics before, now;
	struct rt_delta used;
	int err = rt_cgroup_tracker_new(&tracker, argc > 1 ? argv[1] : "/", &opts);

	if (err < 0) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	err = rt_sample(tracker, &before, sizeof(before));
	print_missing(tracker, &before);
	while (err == 0) {
		sleep(1);
		err = rt_sample(tracker, &now, sizeof(now));
		if (rt_diff(&before, &now, &used, sizeof(used)) == 0)
			print_second(&now, &used);
		before = now;
	}
	rt_tracker_free(tracker);
	return err == -ESRCH ? 0 : 1;
}
