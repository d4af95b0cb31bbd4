/* SPDX-License-Identifier: MIT */
/* Names of the back ends of a trace, and which of them work here. */
#include "trace_back_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

static void wait_for(struct rt_command *command)
{
	while (command && rt_command_wait(command, -1, NULL, 0) == -EINTR)
		;
}

static void try_one(struct trace_back_end *back_end)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const bool has_command = back_end->id == RT_TRACE_BACK_END_PTRACE;
	const struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.back_end = back_end->id,
		.pid = has_command ? 0 : getpid(),
		.command = has_command ? &command : NULL,
		.message = back_end->problem,
		.message_size = sizeof(back_end->problem),
	};
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	if (err < 0 && !*back_end->problem)
		snprintf(back_end->problem, sizeof(back_end->problem), "%s", rt_strerror(err));
	if (err < 0)
		return;
	wait_for(rt_trace_command(trace));
	rt_trace_free(trace);
}

void trace_back_ends_try(struct trace_back_end out[TRACE_BACK_ENDS])
{
	out[0] = (struct trace_back_end){ .name = "bpf", .id = RT_TRACE_BACK_END_BPF };
	out[1] = (struct trace_back_end){ .name = "ptrace", .id = RT_TRACE_BACK_END_PTRACE };
	for (int i = 0; i < TRACE_BACK_ENDS; i++)
		try_one(&out[i]);
}
