/* SPDX-License-Identifier: MIT */
/* The back end that traces by ptrace(2): a tracer of its own process, and a command that is started
 * through the starter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/start_error.h"
#include "os/fd_map.h"
#include "os/platform.h"
#include "os/wakeup.h"
#include "trace/back_end.h"
#include "trace/pace.h"
#include "trace/ptrace_error.h"
#include "trace/tracer_client.h"
#include "util/decimal.h"

#define ENDED_MAX_NS 10000000000 /* for a program that was not executed */

struct ptrace_trace {
	struct rti_tracer tracer;
	struct rti_wakeup wakeup;
	struct rti_platform platform;
	struct rti_pace pace;
	pid_t owner;
	bool is_gone;        /* the tracer has ended, before all was over */
	bool has_taken_some; /* records, since the reader went to sleep */
};

/* What rt_command_start() checks later, as far as it is used here before. */
static int check_command(const struct rt_command_opts *opts)
{
	if (!opts->argv || (!opts->fds && opts->fd_count))
		return -EFAULT;
	return opts->argv[0] ? rti_fd_map_check(opts->fds, opts->fd_count) : -EINVAL;
}

/* The arguments of the starter, in front of those of the program. */
static const char **make_argv(const struct rti_tracer *tracer, const char *const *program,
                              const char *socket, const char *tracer_pid)
{
	size_t count = 0;
	const char **argv;

	while (program[count])
		count++;
	argv = malloc((count + 5) * sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = tracer->path;
	argv[1] = RTI_TRACER_START;
	argv[2] = socket;
	argv[3] = tracer_pid;
	memcpy(argv + 4, program, (count + 1) * sizeof(*argv));
	return argv;
}

/* The descriptors of the program, and one more. */
static struct rt_fd *make_fds(const struct rt_command_opts *opts, int socket)
{
	struct rt_fd *fds = malloc((opts->fd_count + 1) * sizeof(*fds));

	if (!fds)
		return NULL;
	if (opts->fd_count)
		memcpy(fds, opts->fds, opts->fd_count * sizeof(*fds));
	fds[opts->fd_count] = (struct rt_fd){ .target = socket, .source = socket };
	return fds;
}

/* Start the starter where the program is to run. socket is no target of the program's. A message
 * would name the starter. */
static int start_starter(const struct rti_tracer *tracer, const struct rt_command_opts *opts,
                         int socket, struct rt_command **command)
{
	char socket_text[RTI_DECIMAL_MAX], pid_text[RTI_DECIMAL_MAX];
	struct rt_command_opts starter = *opts;
	struct rt_fd *fds = make_fds(opts, socket);
	const char **argv;
	int err = -ENOMEM;

	rti_decimal(socket_text, (uint64_t)socket);
	rti_decimal(pid_text, (uint64_t)tracer->pid);
	argv = make_argv(tracer, opts->argv, socket_text, pid_text);
	if (fds && argv) {
		starter.argv = argv;
		starter.fds = fds;
		starter.fd_count++;
		starter.message = NULL;
		starter.message_size = 0;
		err = rt_command_start(command, &starter);
	}
	free(argv);
	free(fds);
	return err;
}

static int start_with_socket(struct rti_tracer *tracer, const struct rt_command_opts *opts,
                             struct rt_command **command)
{
	int socket = rti_fd_map_copy(opts->fds, opts->fd_count, tracer->starter_socket);
	int err;

	if (socket < 0)
		return socket;
	err = start_starter(tracer, opts, socket, command);
	close(socket);
	rti_tracer_release_starter(tracer);
	return err;
}

/* The starter has ended by itself. */
static void discard(struct rt_command *command)
{
	while (rt_command_wait(command, ENDED_MAX_NS, NULL, 0) == -EINTR)
		;
	rt_command_free(command);
}

/* Start the program. On failure nothing of it is left. */
static int start_command(void *self, const struct rti_trace_request *request,
                         struct rt_command **command)
{
	struct ptrace_trace *t = self;
	struct rti_tracer_report report = { .step = RTI_TRACER_STARTED };
	int err = start_with_socket(&t->tracer, request->command, command);

	if (err < 0) {
		rti_start_error_describe(request->command, err);
		return err;
	}
	err = rti_tracer_receive(&t->tracer, &report);
	if (err == 0 && report.step == RTI_TRACER_STARTED)
		return 0;
	discard(*command);
	*command = NULL;
	if (err == 0)
		return rti_ptrace_describe(request, &report);
	rti_ptrace_describe_tracer(request, err);
	return err;
}

static int open_wakeup(struct ptrace_trace *t)
{
	int err = rti_wakeup_open(&t->wakeup, true);

	if (err == 0)
		err = rti_wakeup_add(&t->wakeup, t->tracer.event);
	if (err == 0)
		err = rti_wakeup_add(&t->wakeup, t->tracer.socket);
	return err;
}

static void close_trace(void *self)
{
	struct ptrace_trace *t = self;

	rti_wakeup_close(&t->wakeup);
	rti_tracer_close(&t->tracer, t->owner == t->platform.getpid());
	free(t);
}

static int open_trace(void **self, const struct rti_trace_request *request)
{
	struct ptrace_trace *t;
	int err = check_command(request->command);

	if (err < 0) {
		rti_start_error_describe(request->command, err);
		return err;
	}
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (struct ptrace_trace){ .tracer = RTI_TRACER_INIT, .wakeup = RTI_WAKEUP_INIT };
	rti_platform_init(&t->platform, false);
	t->owner = t->platform.getpid();
	err = rti_tracer_start(&t->tracer, request);
	if (err < 0)
		rti_ptrace_describe_tracer(request, err);
	if (err == 0)
		err = open_wakeup(t);
	if (err < 0) {
		close_trace(t);
		return err;
	}
	*self = t;
	return 0;
}

static int get_fd(const void *self)
{
	return ((const struct ptrace_trace *)self)->wakeup.epoll;
}

/* The reader has found nothing. */
static void go_to_sleep(struct ptrace_trace *t)
{
	uint64_t now_ns = t->platform.monotonic_ns();
	struct rti_pace_plan plan = rti_pace_plan(&t->pace, now_ns, t->has_taken_some);

	rti_wakeup_clear(&t->wakeup);
	rti_wakeup_set_time(&t->wakeup, plan.timer_ns);
	atomic_store(&t->tracer.ring->is_asleep, plan.wakes_at_once);
	t->has_taken_some = false;
}

/* Take records, and remember that there were some. */
static int take(struct ptrace_trace *t, struct rti_trace_record *records, int room)
{
	int count = rti_trace_ring_take(t->tracer.ring, records, room);

	if (count > 0)
		t->has_taken_some = true;
	return count;
}

static bool is_over(const struct ptrace_trace *t)
{
	return atomic_load(&t->tracer.ring->is_over);
}

/* What comes after the last look at the ring is noted by the wakeup. What was written before it is
 * taken here: then the descriptor has to say so by itself. The tracer writes all records before it
 * is over, and before it is gone. */
static int read_records(void *self, struct rti_trace_record *records, int room)
{
	struct ptrace_trace *t = self;
	int count = take(t, records, room);
	bool has_ended;

	if (count > 0)
		return count;
	go_to_sleep(t);
	t->is_gone = rti_tracer_is_gone(&t->tracer);
	has_ended = t->is_gone || is_over(t);
	count = take(t, records, room);
	if (count > 0 || has_ended)
		rti_wakeup_set_time(&t->wakeup, 0);
	return count == 0 && has_ended && !is_over(t) ? -ECHILD : count;
}

static void get_state(const void *self, struct rti_trace_state *out)
{
	const struct ptrace_trace *t = self;
	const struct rti_trace_ring *ring = t->tracer.ring;

	*out = (struct rti_trace_state){
		.lost = atomic_load(&ring->lost),
		.threads = t->is_gone ? 0 : atomic_load(&ring->threads),
		.is_over = is_over(t) && rti_trace_ring_is_empty(ring),
	};
}

const struct rti_trace_back_end rti_trace_ptrace = {
	.id = RT_TRACE_BACK_END_PTRACE,
	.open = open_trace,
	.start = start_command,
	.fd = get_fd,
	.read = read_records,
	.get_state = get_state,
	.close = close_trace,
};
