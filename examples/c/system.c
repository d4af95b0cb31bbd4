/* SPDX-License-Identifier: MIT */
/* Prints what the system used in one second, and the traffic of each disk. Figures that are unknown
 * are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void print_second(const struct rt_metrics *now, const struct rt_delta *used)
{
	if (RT_IS_KNOWN(used, RT_HAS_CPU))
		printf("cpu      %.2f of %llu cores\n", used->cores_used,
		       (unsigned long long)now->cpus_online);
	if (RT_IS_KNOWN(now, RT_HAS_MEMORY_AVAILABLE))
		printf("memory   %.1f of %.1f MiB used\n", mib(now->memory_used_bytes),
		       mib(now->memory_total_bytes));
	if (RT_IS_KNOWN(used, RT_HAS_DISK))
		printf("disk     %.1f MiB read, %.1f MiB written\n", mib(used->disk_read_bytes),
		       mib(used->disk_write_bytes));
	if (RT_IS_KNOWN(used, RT_HAS_NETWORK))
		printf("network  %.1f MiB received, %.1f MiB sent\n",
		       mib(used->network_receive_bytes), mib(used->network_transmit_bytes));
}

static void print_disks(const struct rt_tracker *tracker)
{
	struct rt_disk *disks;
	size_t count = 0;

	if (rt_tracker_disks(tracker, NULL, sizeof(*disks), &count) || count == 0)
		return;
	disks = calloc(count, sizeof(*disks));
	if (disks && rt_tracker_disks(tracker, disks, sizeof(*disks), &count) == 0)
		for (size_t i = 0; i < count; i++)
			printf("%-15s %12.1f MiB read, %12.1f MiB written since boot%s\n",
			       disks[i].name, mib(disks[i].read_bytes), mib(disks[i].write_bytes),
			       disks[i].flags & RT_ITEM_IN_TOTAL ? "" : " (not in the total)");
	free(disks);
}

int main(void)
{
	struct rt_metrics before, now;
	struct rt_delta used;
	struct rt_tracker *tracker;
	int err = rt_system_tracker_new(&tracker, NULL);

	if (!err)
		err = rt_sample(tracker, &before, sizeof(before));
	if (!err) {
		sleep(1);
		err = rt_sample(tracker, &now, sizeof(now));
	}
	if (!err)
		err = rt_diff(&before, &now, &used, sizeof(used));
	if (!err) {
		print_second(&now, &used);
		print_disks(tracker);
	}
	if (err)
		fprintf(stderr, "system: %s\n", rt_strerror(err));
	rt_tracker_free(tracker);
	return err ? 1 : 0;
}
