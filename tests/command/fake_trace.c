/* SPDX-License-Identifier: MIT */
/* The calls of a trace as a test wants them, loaded into rtrack by LD_PRELOAD. A command is started
 * and followed as usual, but it is not traced: the events are those of a file.
 *
 * The environment says which:
 * - FAKE_EVENTS: the file, an array of struct rt_trace_event
 * - FAKE_ROUNDS: how many times they come, 1 by default
 * - FAKE_LOST: how many were lost at the end, 0 by default
 * - FAKE_ERROR: rt_trace_new() fails with this error and a message
 * - FAKE_END: rt_trace_read() ends with this error; default ESRCH, 0: never */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

struct rt_trace {
	struct rt_command *command;
	struct rt_trace_event *events;
	size_t count, rounds, at;
	uint64_t read;
	int fd; /* readable until the events are over, and at an end */
};

static long number(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? strtol(value, NULL, 10) : otherwise;
}

static void load_events(struct rt_trace *trace)
{
	const char *name = getenv("FAKE_EVENTS");
	FILE *file = name ? fopen(name, "rb") : NULL;
	long size;

	if (!file)
		return;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	trace->events = malloc((size_t)size + 1);
	trace->count = trace->events ? (size_t)size / sizeof(*trace->events) : 0;
	if (fread(trace->events, sizeof(*trace->events), trace->count, file) != trace->count)
		trace->count = 0;
	fclose(file);
}

int rt_trace_new(struct rt_trace **out, const struct rt_trace_opts *opts)
{
	struct rt_trace *trace;
	int err = -(int)number("FAKE_ERROR", 0);

	*out = NULL;
	if (err < 0) {
		snprintf(opts->message, opts->message_size, "A fake reason.");
		return err;
	}
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	if (opts->command)
		err = rt_command_start(&trace->command, opts->command);
	if (err < 0) {
		free(trace);
		return err;
	}
	load_events(trace);
	trace->rounds = (size_t)number("FAKE_ROUNDS", 1);
	trace->fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	*out = trace;
	return 0;
}

int rt_trace_fd(const struct rt_trace *trace)
{
	return trace->fd;
}

int rt_trace_read(struct rt_trace *trace, struct rt_trace_event *array, size_t element_size,
                  size_t *count)
{
	size_t room = *count, done = 0;
	long end = number("FAKE_END", ESRCH);
	uint64_t unused;

	if (element_size != sizeof(*array))
		return -EINVAL;
	for (; done < room && trace->rounds > 0 && trace->count > 0; done++) {
		array[done] = trace->events[trace->at++];
		array[done].sequence = trace->read++;
		if (trace->at == trace->count) {
			trace->at = 0;
			trace->rounds--;
		}
	}
	*count = done;
	if (done > 0)
		return 0;
	if (end == 0 && read(trace->fd, &unused, sizeof(unused)) < 0)
		return 0;
	return -(int)end;
}

int rt_trace_get_totals(const struct rt_trace *trace, struct rt_trace_totals *out, size_t out_size)
{
	struct rt_trace_totals totals = { .size = sizeof(totals),
		                          .back_end = RT_TRACE_BACK_END_BPF,
		                          .read = trace->read,
		                          .lost = (uint64_t)number("FAKE_LOST", 0) };

	if (out_size != sizeof(totals))
		return -EINVAL;
	*out = totals;
	return 0;
}

struct rt_command *rt_trace_command(struct rt_trace *trace)
{
	return trace->command;
}

void rt_trace_free(struct rt_trace *trace)
{
	if (!trace)
		return;
	rt_command_free(trace->command);
	close(trace->fd);
	free(trace->events);
	free(trace);
}
