/* SPDX-License-Identifier: MIT */
/* The public calls of a trace: arguments, the choice of a back end, and what the back ends do not
 * differ in. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "os/platform.h"
#include "os/process/standard_fds.h"
#include "trace/back_end.h"
#include "trace/error.h"
#include "trace/event.h"
#include "trace/ring_size.h"
#include "util/text.h"

#define KNOWN_FLAGS (RT_TRACE_OPT_ALL | RT_TRACE_OPT_NO_CHILDREN | RT_TRACE_OPT_LIVE_CHILDREN)
#define KNOWN_CALLS (RT_TRACE_CALL_GETRUSAGE | RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID)
#define RING_BYTES_MAX (64u << 20)
#define RECORDS_PER_READ 64
#define REASON_BYTES 512

struct rt_trace {
	const struct rti_trace_back_end *back_end; /* NULL: none was opened */
	void *state;                               /* of the back end */
	struct rt_command *command;                /* or NULL */
	pid_t owner;                               /* a forked child must not read */
	uint64_t read;                             /* events so far */
	struct rti_event_maker maker;
	struct rti_trace_record records[RECORDS_PER_READ];
};

static int check_opts(const struct rt_trace_opts *opts)
{
	int targets =
	    (opts->pid != 0) + (opts->command != NULL) + !!(opts->flags & RT_TRACE_OPT_ALL);

	if (opts->flags & ~KNOWN_FLAGS || opts->calls & ~KNOWN_CALLS || opts->pid < 0 ||
	    opts->back_end > RT_TRACE_BACK_END_PTRACE || opts->ring_bytes > RING_BYTES_MAX ||
	    opts->reserved || targets != 1)
		return -EINVAL;
	if (opts->flags & RT_TRACE_OPT_ALL && opts->flags & RT_TRACE_OPT_NO_CHILDREN)
		return -EINVAL;
	return opts->back_end == RT_TRACE_BACK_END_PTRACE && !opts->command ? -EINVAL : 0;
}

/* The program gets the standard descriptors as the host has them: none are held when it starts. */
static int open_with(struct rt_trace *trace, const struct rti_trace_back_end *back_end,
                     const struct rti_trace_request *request)
{
	struct rti_standard_fds held;
	int err = rti_standard_fds_hold(&held);

	if (err < 0)
		return err;
	err = back_end->open(&trace->state, request);
	rti_standard_fds_release(&held);
	if (err < 0)
		return err;
	trace->back_end = back_end;
	if (request->command)
		err = back_end->start(trace->state, request, &trace->command);
	if (err < 0)
		back_end->close(trace->state);
	return err;
}

/* Whether the kernel or the installation refuses a back end. */
static bool is_refusal(int err)
{
	return err == -EPERM || err == -EOPNOTSUPP || err == -ENOPKG;
}

/* Say of both back ends why they refuse. */
static void join_reasons(char reason[REASON_BYTES], const char *of_bpf)
{
	char of_ptrace[REASON_BYTES];
	struct rti_text text;

	memcpy(of_ptrace, reason, sizeof(of_ptrace));
	text = rti_text(reason, REASON_BYTES);
	rti_text_add(&text, of_bpf);
	if (*of_ptrace)
		rti_text_add(&text, " ");
	rti_text_add(&text, of_ptrace);
}

/* Without a command only BPF will do. Once a back end was opened, an error is one of the program,
 * and final. */
static int open_back_end(struct rt_trace *trace, const struct rt_trace_opts *opts,
                         char reason[REASON_BYTES])
{
	char of_bpf[REASON_BYTES];
	struct rt_command_opts command;
	const struct rti_trace_request request = {
		.calls = opts->calls ? opts->calls : RT_TRACE_CALL_GETRUSAGE,
		.ring = rti_ring_size(opts->ring_bytes),
		.pid = opts->pid,
		.has_children = !(opts->flags & RT_TRACE_OPT_NO_CHILDREN),
		.wakes_for_children = opts->flags & RT_TRACE_OPT_LIVE_CHILDREN,
		.command = opts->command ? &command : NULL,
		.reason = reason,
		.reason_size = REASON_BYTES,
		.exe_cache = trace->maker.exe_cache,
	};
	int err = -EOPNOTSUPP;

	if (opts->command) {
		err = rti_struct_copy_in(&command, sizeof(command), opts->command,
		                         RTI_COMMAND_OPTS_V1);
		if (err < 0)
			return err;
		command.size = sizeof(command);
		command.message = reason;
		command.message_size = REASON_BYTES;
		err = -EOPNOTSUPP;
	}
	if (opts->back_end != RT_TRACE_BACK_END_PTRACE)
		err = open_with(trace, &rti_trace_bpf, &request);
	if (trace->back_end || !is_refusal(err) || !opts->command ||
	    opts->back_end == RT_TRACE_BACK_END_BPF)
		return err;
	memcpy(of_bpf, reason, sizeof(of_bpf));
	*reason = '\0';
	err = open_with(trace, &rti_trace_ptrace, &request);
	if (*of_bpf && is_refusal(err))
		join_reasons(reason, of_bpf);
	return err;
}

int rt_trace_new(struct rt_trace **out, const struct rt_trace_opts *opts)
{
	char reason[REASON_BYTES] = "";
	struct rt_trace_opts known;
	struct rt_trace *trace;
	struct rti_text text;
	int err;

	if (!out)
		return -EFAULT;
	*out = NULL;
	if (!opts)
		return -EFAULT;
	err = rti_struct_copy_in(&known, sizeof(known), opts, RTI_TRACE_OPTS_V1);
	if (err < 0)
		return err;
	err = check_opts(&known);
	trace = err == 0 ? calloc(1, sizeof(*trace)) : NULL;
	if (err == 0 && !trace)
		err = -ENOMEM;
	if (err == 0)
		err = rti_event_maker_init(&trace->maker, known.flags & RT_TRACE_OPT_LIVE_CHILDREN);
	if (err == 0)
		err = open_back_end(trace, &known, reason);
	if (err < 0) {
		if (trace)
			rti_event_maker_fini(&trace->maker);
		free(trace);
		if (!*reason) {
			rti_trace_error_describe(&known, err);
		} else if (known.message && known.message_size) {
			text = rti_text(known.message, known.message_size);
			rti_text_add(&text, reason);
		}
		return err;
	}
	trace->owner = getpid();
	*out = trace;
	return 0;
}

int rt_trace_fd(const struct rt_trace *trace)
{
	return trace ? trace->back_end->fd(trace->state) : -EFAULT;
}

/* Returns how many events were written, or -errno. */
static int read_some(struct rt_trace *trace, char *array, size_t element_size, size_t room)
{
	struct rt_trace_event event;
	int count = trace->back_end->read(trace->state, trace->records,
	                                  room < RECORDS_PER_READ ? (int)room : RECORDS_PER_READ);

	for (int i = 0; i < count; i++) {
		rti_event_make(&trace->maker, &trace->records[i], &event);
		event.sequence = trace->read++;
		rti_struct_copy_out(array + (size_t)i * element_size, element_size, &event,
		                    sizeof(event));
	}
	return count;
}

static bool is_over(const struct rt_trace *trace)
{
	struct rti_trace_state state;

	trace->back_end->get_state(trace->state, &state);
	return state.is_over;
}

int rt_trace_read(struct rt_trace *trace, struct rt_trace_event *array, size_t element_size,
                  size_t *count)
{
	size_t room, done = 0;
	int got = 1;

	if (!trace || !count || (!array && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, RTI_TRACE_EVENT_V1) < 0)
		return -EINVAL;
	if (trace->owner != getpid())
		return -ECHILD;
	room = *count;
	rti_event_maker_set_time(&trace->maker);
	while (got > 0 && done < room) {
		got = read_some(trace, (char *)array + done * element_size, element_size,
		                room - done);
		if (got > 0)
			done += (size_t)got;
	}
	*count = done;
	if (done > 0 || room == 0)
		return 0;
	return got < 0 ? got : is_over(trace) ? -ESRCH : 0;
}

int rt_trace_get_totals(const struct rt_trace *trace, struct rt_trace_totals *out, size_t out_size)
{
	struct rt_trace_totals totals;
	struct rti_trace_state state;

	if (!trace || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_TRACE_TOTALS_V1) < 0)
		return -EINVAL;
	trace->back_end->get_state(trace->state, &state);
	totals = (struct rt_trace_totals){
		.back_end = trace->back_end->id,
		.read = trace->read,
		.lost = state.lost,
		.threads = state.threads,
		.ring_bytes = state.ring_bytes,
	};
	rti_struct_copy_out(out, out_size, &totals, sizeof(totals));
	return 0;
}

struct rt_command *rt_trace_command(struct rt_trace *trace)
{
	return trace ? trace->command : NULL;
}

void rt_trace_free(struct rt_trace *trace)
{
	if (!trace)
		return;
	rt_command_free(trace->command);
	trace->back_end->close(trace->state);
	rti_event_maker_fini(&trace->maker);
	free(trace);
}
