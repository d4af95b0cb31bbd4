/* SPDX-License-Identifier: MIT */
/* Records itself a thousand times a second while it works, and prints the peak of that work. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define ROOM 1000

static void work(void)
{
	size_t size = 64 << 20;
	volatile char *memory = malloc(size);

	for (size_t i = 0; memory && i < size; i += 512)
		memory[i] = 1;
	free((void *)memory);
}

int main(void)
{
	const struct rt_recorder_opts opts = { .size = sizeof(opts), .interval_ns = 1000000 };
	static struct rt_metrics samples[ROOM];
	size_t count = ROOM;
	struct rt_recorder *recorder = NULL;
	struct rt_tracker *tracker;
	struct rt_peaks peaks;
	uint64_t mark;
	int err = rt_pid_tracker_new(&tracker, getpid(), NULL);

	if (!err) {
		err = rt_recorder_new(&recorder, tracker, &opts); /* the tracker is its own now */
		if (err)
			rt_tracker_free(tracker);
	}
	if (!err)
		err = rt_tracker_mark(tracker, "work", &mark);
	if (!err) {
		work();
		err = rt_tracker_since(tracker, mark, &peaks, sizeof(peaks));
	}
	if (!err)
		err = rt_recorder_stop(recorder);
	if (!err)
		err = rt_recorder_read(recorder, samples, sizeof(samples[0]), &count);
	if (!err)
		printf("%s %.1f MiB, %zu samples\n", RT_QUALITY_TEXT(&peaks, RT_HAS_PEAK_FOOTPRINT),
		       (double)peaks.peak_footprint_bytes / (1 << 20), count);
	else
		fprintf(stderr, "%s\n", rt_strerror(err));
	rt_recorder_free(recorder);
	return err != 0;
}
