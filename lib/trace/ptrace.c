/* SPDX-License-Identifier: MIT */
/* The back end that traces by ptrace(2): a tracer of its own process, and a command that is started
 * through the starter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/start_error.h"
#include "os/platform.h"
#include "os/process/fd_map.h"
#include "os/wakeup.h"
#include "trace/back_end.h"
#include "trace/pace.h"
#include "trace/ptrace_error.h"
#include "trace/tracer_client.h"
#include "util/arith.h"
#include "util/decimal.h"

struct ptrace_trace {
	struct rti_tracer tracer;
	struct rti_wakeup wakeup;
	struct rti_platform platform;
	struct rti_pace pace;
	pid_t owner;
	bool is_gone;          /* the tracer has ended, before all was over */
	bool is_given_up;      /* it was stopped or frozen for too long, and was killed */
	uint64_t next_look_ns; /* at the tracer */
	bool has_taken_some;   /* records, since the reader went to sleep */
};

/* The descriptors that the starter gets besides the program's, with the same numbers. */
struct starter_fds {
	int socket;
	int dir; /* of its program file, or 0 */
};

/* The arguments of the starter, followed by the program's. */
struct starter_argv {
	char path[RTI_DESCRIPTOR_PATH_MAX];
	char socket[RTI_DECIMAL_MAX], dir[RTI_DECIMAL_MAX], tracer_pid[RTI_DECIMAL_MAX];
	const char *argv[];
};

/* The starter is the file that the tracer was executed from, whatever has its path by now. */
static struct starter_argv *make_argv(const struct rti_tracer *tracer, const char *const *program,
                                      const struct starter_fds *fds)
{
	struct starter_argv *out;
	size_t count = 0;

	while (program[count])
		count++;
	out = malloc(sizeof(*out) + (count + 6) * sizeof(out->argv[0]));
	if (!out)
		return NULL;
	rti_decimal(out->socket, (uint64_t)fds->socket);
	rti_decimal(out->dir, (uint64_t)fds->dir);
	rti_decimal(out->tracer_pid, (uint64_t)tracer->pid);
	if (fds->dir)
		rti_origin_descriptor_path(fds->dir, tracer->file.name, out->path);
	out->argv[0] = fds->dir ? out->path : tracer->file.path;
	out->argv[1] = RTI_TRACER_START;
	out->argv[2] = out->socket;
	out->argv[3] = out->dir;
	out->argv[4] = out->tracer_pid;
	memcpy(out->argv + 5, program, (count + 1) * sizeof(out->argv[0]));
	return out;
}

static struct rt_fd *make_fds(const struct rt_command_opts *opts, const struct starter_fds *more,
                              uint32_t *count)
{
	struct rt_fd *fds = malloc((opts->fd_count + 2) * sizeof(*fds));

	if (!fds)
		return NULL;
	if (opts->fd_count)
		memcpy(fds, opts->fds, opts->fd_count * sizeof(*fds));
	*count = opts->fd_count;
	fds[(*count)++] = (struct rt_fd){ .target = more->socket, .source = more->socket };
	if (more->dir)
		fds[(*count)++] = (struct rt_fd){ .target = more->dir, .source = more->dir };
	return fds;
}

/* Start the starter where the program is to run. A message would name the starter. */
static int start_starter(const struct rti_tracer *tracer, const struct rt_command_opts *opts,
                         const struct starter_fds *more, struct rt_command **command)
{
	struct rt_command_opts starter = *opts;
	struct rt_fd *fds = make_fds(opts, more, &starter.fd_count);
	struct starter_argv *argv = make_argv(tracer, opts->argv, more);
	int err = -ENOMEM;

	if (fds && argv) {
		starter.argv = argv->argv;
		starter.fds = fds;
		starter.message = NULL;
		starter.message_size = 0;
		err = rt_command_start(command, &starter);
	}
	free(argv);
	free(fds);
	return err;
}

/* None of the starter's descriptors has the number of one of the program's. */
static int start_with_fds(struct rti_tracer *tracer, const struct rt_command_opts *opts,
                          struct rt_command **command)
{
	struct starter_fds fds = { 0 };
	int err;

	fds.socket = rti_fd_map_copy(opts->fds, opts->fd_count, tracer->starter_socket);
	if (fds.socket < 0)
		return fds.socket;
	if (tracer->file.dir >= 0)
		fds.dir = rti_fd_map_copy(opts->fds, opts->fd_count, tracer->file.dir);
	err = fds.dir < 0 ? fds.dir : start_starter(tracer, opts, &fds, command);
	if (fds.dir > 0)
		close(fds.dir);
	close(fds.socket);
	rti_tracer_release_starter(tracer);
	return err;
}

/* The starter has ended by itself, or is killed with its tracer. */
static void end_starter(const struct ptrace_trace *t, struct rt_command **command, bool is_given_up)
{
	const struct rti_wait_bounds *bounds = &t->platform.waits;
	/* What is frozen ends when it is thawed. */
	uint64_t now_ns = t->platform.monotonic_ns();
	uint64_t end_ns = now_ns + (is_given_up ? bounds->answer_ns : bounds->unexecuted_ns);

	if (is_given_up)
		rt_command_kill(*command);
	/* Signals to the caller make the wait no longer. */
	while (now_ns < end_ns &&
	       rt_command_wait(*command, (int64_t)(end_ns - now_ns), NULL, 0) == -EINTR)
		now_ns = t->platform.monotonic_ns();
	rt_command_free(*command);
	*command = NULL;
}

/* Start the program. On failure nothing of it is left. */
static int start_command(void *self, const struct rti_trace_request *request,
                         struct rt_command **command)
{
	struct ptrace_trace *t = self;
	struct rti_tracer_report report = { .step = RTI_TRACER_STARTED };
	uint64_t timeout_ns = request->command->start_timeout_ns, end_ns = UINT64_MAX;
	int err;

	if (timeout_ns)
		end_ns = rti_add_saturated(t->platform.monotonic_ns(), timeout_ns);
	err = start_with_fds(&t->tracer, request->command, command);

	if (err < 0) {
		rti_start_error_describe(request->command, err, 0);
		return err;
	}
	err = rti_tracer_receive(&t->tracer, end_ns, &report);
	if (err == 0 && report.step == RTI_TRACER_STARTED)
		return 0;
	end_starter(t, command, err < 0 && err != -ECHILD);
	if (err == 0)
		return rti_ptrace_describe(request, &report);
	rti_ptrace_describe_tracer(request, true, err);
	return err == -EBUSY ? -ECHILD : err;
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
	const struct rt_command_opts *opts = request->command;
	struct ptrace_trace *t;
	int err;

	/* What rt_command_start() checks later, as far as it is used here before. */
	if (!opts->argv || (!opts->fds && opts->fd_count))
		err = -EFAULT;
	else
		err = opts->argv[0] ? rti_fd_map_check(opts->fds, opts->fd_count) : -EINVAL;
	if (err < 0) {
		rti_start_error_describe(request->command, err, 0);
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
		rti_ptrace_describe_tracer(request, false, err);
	if (err == 0)
		err = rti_wakeup_open(&t->wakeup, true);
	if (err == 0)
		err = rti_wakeup_add(&t->wakeup, t->tracer.event);
	if (err == 0)
		err = rti_wakeup_add(&t->wakeup, t->tracer.socket);
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

/* Take records, and remember that there were some. If another process has written to the ring, no
 * record can be relied on any more: that is as if the tracer were gone. */
static int take(struct ptrace_trace *t, struct rti_trace_record *records, int room)
{
	int count = rti_trace_ring_take(&t->tracer.reader, records, room);

	if (count < 0)
		return -ECHILD;
	if (count > 0)
		t->has_taken_some = true;
	return count;
}

static bool is_over(const struct ptrace_trace *t)
{
	return atomic_load(&t->tracer.ring->is_over);
}

/* Look now and then whether the tracer is stopped: then the program hangs in its next traced call,
 * and no event tells of it. The reader comes again for that. */
static int look(struct ptrace_trace *t, uint64_t *timer_ns)
{
	uint64_t now_ns = t->platform.monotonic_ns();

	if (is_over(t))
		return 0;
	if (!t->is_given_up && now_ns >= t->next_look_ns) {
		t->is_given_up = t->is_gone = rti_tracer_look(&t->tracer) < 0;
		t->next_look_ns = now_ns + t->platform.waits.idle_look_ns;
	}
	*timer_ns = t->is_given_up ? 0 : rti_min(*timer_ns, t->next_look_ns);
	rti_wakeup_set_time(&t->wakeup, *timer_ns);
	return t->is_given_up ? -ETIMEDOUT : 0;
}

/* What comes after the last look at the ring is noted by the wakeup. What was written before it is
 * taken here: then the descriptor has to say so by itself. The tracer writes all records before it
 * is over, and before it is gone. */
static int read_records(void *self, struct rti_trace_record *records, int room)
{
	struct ptrace_trace *t = self;
	int count = take(t, records, room);
	struct rti_pace_plan plan;
	bool has_ended;
	int err;

	if (count != 0)
		return count;
	plan = rti_pace_plan(&t->pace, t->platform.monotonic_ns(), t->has_taken_some);
	rti_wakeup_clear(&t->wakeup);
	err = look(t, &plan.timer_ns);
	if (err < 0)
		return err;
	rti_wakeup_set_time(&t->wakeup, plan.timer_ns);
	atomic_store(&t->tracer.ring->is_asleep, plan.wakes_at_once);
	t->has_taken_some = false;
	t->is_gone = rti_tracer_is_gone(&t->tracer);
	has_ended = t->is_gone || is_over(t);
	count = take(t, records, room);
	if (count != 0 || has_ended)
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
		.ring_bytes = t->tracer.ring_bytes - RTI_TRACE_RING_HEAD_BYTES,
		.is_over = is_over(t) && rti_trace_ring_is_empty(&t->tracer.reader),
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
