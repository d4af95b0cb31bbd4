/* SPDX-License-Identifier: MIT */
/* Track so many idle processes for so many samples that the library looks for the plug-in. Prints
 * how many processes each sample had, or nothing if they differ. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define CHILDREN 24
#define SAMPLES 10000

static void wait_for_signal(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static int count_processes(struct rt_tracker *tracker)
{
	const uint64_t needed = RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PROCESSES;
	struct rt_metrics m;

	for (int i = 0; i < SAMPLES; i++)
		if (rt_sample(tracker, &m, sizeof(m)) < 0 || !RT_IS_KNOWN(&m, needed) ||
		    m.processes != 1 + CHILDREN)
			return -1;
	return (int)m.processes;
}

int main(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_NO_MEMORY_READS };
	pid_t pids[CHILDREN];
	struct rt_tracker *tracker;
	int count = -1;

	for (int i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			wait_for_signal();
	}
	if (rt_pid_tracker_new(&tracker, getpid(), &opts) == 0) {
		count = count_processes(tracker);
		rt_tracker_free(tracker);
	}
	for (int i = 0; i < CHILDREN; i++) {
		if (pids[i] < 0) {
			count = -1;
			continue;
		}
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	if (count < 0)
		return 1;
	printf("%d\n", count);
	return 0;
}
