/* SPDX-License-Identifier: MIT */
/* Traces a program with this library, and prints how many events were read and lost.
 *
 * Usage: bench-traced-calls bpf|ptrace PROGRAM ARGUMENT */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <rtrack/rtrack.h>

#define BATCH 256

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

static int trace(const char *back_end, const char *const argv[])
{
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
	return argc == 4 ? trace(argv[1], (const char *const *)argv + 2) : 2;
}
