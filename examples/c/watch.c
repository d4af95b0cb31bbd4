/* SPDX-License-Identifier: MIT */
/* Follows a process and all its descendants, or itself without an argument. Prints once a second
 * how many cores and how much memory they use. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

int main(int argc, char **argv)
{
	struct rt_metrics before, now;
	struct rt_delta used;
	struct rt_tracker *tracker;
	int err = rt_pid_tracker_new(&tracker, argc == 2 ? atoi(argv[1]) : getpid(), NULL);

	if (!err)
		err = rt_sample(tracker, &before, sizeof(before));
	for (; !err; before = now) {
		sleep(1);
		err = rt_sample(tracker, &now, sizeof(now));
		if (!err && !rt_diff(&before, &now, &used, sizeof(used)))
			printf("%6.2f cores %9.1f MiB\n", used.cores_used,
			       (double)now.rss_bytes / (1 << 20));
	}
	fprintf(stderr, "%s: %s\n", argv[0], rt_strerror(err));
	rt_tracker_free(tracker);
	return 1;
}
