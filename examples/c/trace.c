/* SPDX-License-Identifier: MIT */
/* Runs a command, and prints each call of getrusage(2) that it and its descendants make. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include <rtrack/rtrack.h>

#define EVENTS 32

static void print(const struct rt_trace_event *event)
{
	printf("%d: getrusage(%d) = %lld", (int)event->pid, (int)event->who,
	       (long long)event->result);
	/* Bit i belongs to field i. A call that failed has none. */
	if (event->rusage_valid & 1)
		printf(", %.6f s of user time", event->rusage.ru_utime);
	printf("\n");
}

/* Print all calls. Returns 0 if all processes have ended. */
static int follow(struct rt_trace *trace)
{
	struct pollfd wait = { .fd = rt_trace_fd(trace), .events = POLLIN };
	struct rt_trace_event events[EVENTS];
	int err;

	for (;;) {
		size_t count = EVENTS;

		err = rt_trace_read(trace, events, sizeof(events[0]), &count);
		if (err < 0)
			return err == -ESRCH ? 0 : err;
		for (size_t i = 0; i < count; i++)
			print(&events[i]);
		if (count == 0)
			poll(&wait, 1, -1);
	}
}

static int report(struct rt_trace *trace)
{
	struct rt_trace_totals totals;
	struct rt_outcome outcome;

	if (rt_trace_get_totals(trace, &totals, sizeof(totals)) == 0)
		printf("%llu calls, %llu lost\n", (unsigned long long)totals.read,
		       (unsigned long long)totals.lost);
	while (rt_command_wait(rt_trace_command(trace), -1, &outcome, sizeof(outcome)) == -EINTR)
		;
	return outcome.signal ? 128 + outcome.signal : outcome.exit_code;
}

int main(int argc, char **argv)
{
	const struct rt_command_opts command = { .size = sizeof(command),
		                                 .argv = (const char *const *)argv + 1 };
	char message[512] = "";
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .message = message,
		                            .message_size = sizeof(message) };
	struct rt_trace *trace;
	int err, exit_code;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	err = rt_trace_new(&trace, &opts);
	if (err < 0) {
		fprintf(stderr, "%s\n", *message ? message : rt_strerror(err));
		return 125;
	}
	err = follow(trace);
	if (err < 0)
		fprintf(stderr, "%s\n", rt_strerror(err));
	exit_code = report(trace);
	rt_trace_free(trace);
	return exit_code;
}
