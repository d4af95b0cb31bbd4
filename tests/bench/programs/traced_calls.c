/* SPDX-License-Identifier: MIT */
/* Calls getrusage(2) many times, by itself or traced by this library, and prints what a call took.
 *
 * Usage: bench-traced-calls COUNT
 *        bench-traced-calls bpf|ptrace COUNT
 * Prints the nanoseconds of a call; traced, also the events that were read and lost. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <rtrack/rtrack.h>

#define BATCH 256

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int call(int count)
{
	struct rusage usage;
	double begin_ns = now_ns();

	for (int i = 0; i < count; i++)
		getrusage(RUSAGE_SELF, &usage);
	printf("%.1f\n", (now_ns() - begin_ns) / count);
	return 0;
}

static void read_all(struct rt_trace *trace)
{
	static struct rt_trace_event events[BATCH];
	struct pollfd readable = { .fd = rt_trace_fd(trace), .events = POLLIN };
	size_t count;

	do {
		poll(&readable, 1, -1);
		count = BATCH;
	} while (rt_trace_read(trace, events, sizeof(events[0]), &count) == 0);
}

static int trace_self(const char *self, const char *back_end, const char *count)
{
	const char *argv[] = { self, count, NULL };
	const struct rt_command_opts command = { .size = sizeof(command),
		                                 .argv = argv,
		                                 .accounting = RT_ACCOUNTING_POLL };
	char why[512];
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .back_end = strcmp(back_end, "bpf") == 0
		                                            ? RT_TRACE_BACK_END_BPF
		                                            : RT_TRACE_BACK_END_PTRACE,
		                            .message = why,
		                            .message_size = sizeof(why) };
	struct rt_trace_totals totals;
	struct rt_trace *trace;

	if (rt_trace_new(&trace, &opts) < 0) {
		fprintf(stderr, "%s\n", why);
		return 125;
	}
	read_all(trace);
	rt_trace_get_totals(trace, &totals, sizeof(totals));
	rt_command_wait(rt_trace_command(trace), -1, NULL, 0);
	rt_trace_free(trace);
	printf("%llu %llu\n", (unsigned long long)totals.read, (unsigned long long)totals.lost);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return call(atoi(argv[1]));
	return argc == 3 ? trace_self(argv[0], argv[1], argv[2]) : 2;
}
