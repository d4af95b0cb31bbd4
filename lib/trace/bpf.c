/* SPDX-License-Identifier: MIT */
/* The back end that traces by BPF programs: opens the plug-in, starts the command, and wakes the
 * reader. */
#include <errno.h>
#include <stdlib.h>

#include "bpf/module.h"
#include "bpf/trace/trace.h"
#include "os/platform.h"
#include "os/wakeup.h"
#include "trace/back_end.h"
#include "trace/bpf_error.h"
#include "trace/pace.h"

struct bpf_trace {
	struct rti_module module;
	const struct rti_trace_ops *ops;
	void *tracer; /* of the plug-in */
	uint64_t ring_bytes;
	struct rti_platform platform;
	struct rti_exe_cache *exe_cache;
	struct rti_wakeup wakeup;
	struct rti_pace pace;
	uint64_t timer_at_ns; /* 0: expired */
};

static void set_timer(struct bpf_trace *t, uint64_t at_ns)
{
	if (t->timer_at_ns != at_ns)
		rti_wakeup_set_time(&t->wakeup, at_ns);
	t->timer_at_ns = at_ns;
}

/* After a read: say when the next one is due. */
static void plan_next_read(struct bpf_trace *t, int count)
{
	struct rti_trace_state_of_ring ring;
	struct rti_pace_plan plan;

	t->ops->get_state(t->tracer, &ring);
	if (ring.has_more || (ring.is_over && count == 0)) {
		set_timer(t, 0);
		return;
	}
	plan = rti_pace_plan(&t->pace, t->platform.monotonic_ns(), count > 0);
	t->ops->set_wake(t->tracer, plan.wakes_at_once ? RTI_WAKE_AT_ONCE : RTI_WAKE_AT_QUARTER);
	set_timer(t, plan.timer_ns);
}

static void add_path(void *arg, uint64_t device, uint64_t inode, const char *path)
{
	const struct rti_exe_file file = { device, inode };

	rti_exe_cache_add(arg, file, path);
}

static int read_records(void *self, struct rti_trace_record *records, int room)
{
	struct bpf_trace *t = self;
	int count = t->ops->read(t->tracer, records, room, add_path, t->exe_cache);

	plan_next_read(t, count);
	return count;
}

static int get_fd(const void *self)
{
	return ((const struct bpf_trace *)self)->wakeup.epoll;
}

static void get_state(const void *self, struct rti_trace_state *out)
{
	const struct bpf_trace *t = self;
	struct rti_trace_state_of_ring ring;

	t->ops->get_state(t->tracer, &ring);
	*out = (struct rti_trace_state){ .lost = ring.lost,
		                         .threads = ring.threads,
		                         .ring_bytes = t->ring_bytes,
		                         .is_over = ring.is_over };
}

static void close_trace(void *self)
{
	struct bpf_trace *t = self;

	rti_wakeup_close(&t->wakeup);
	if (t->tracer)
		t->ops->close(t->tracer);
	if (t->ops)
		rti_module_close(&t->module);
	free(t);
}

/* Some kernels refuse tracepoints with types, but have raw ones. What both refuse has the error of
 * the first. */
static int open_tracer(struct bpf_trace *t, const struct rti_trace_request *request)
{
	struct rti_trace_target target = {
		.kind = request->command ? RTI_TARGET_COMMAND
		        : request->pid   ? RTI_TARGET_PID
		                         : RTI_TARGET_ALL,
		.calls = request->calls,
		.ring_bytes = request->ring.bytes,
		.pid = request->pid,
		.has_children = request->has_children,
		.wakes_for_children = request->wakes_for_children,
	};
	int err = t->ops->open(&t->tracer, &target), first = err;

	if (err == -EPERM || err == -EOPNOTSUPP) {
		target.is_raw = true;
		err = t->ops->open(&t->tracer, &target);
	}
	while (err == -ENOMEM && request->ring.min_bytes &&
	       target.ring_bytes > request->ring.min_bytes) {
		target.ring_bytes /= 2;
		err = t->ops->open(&t->tracer, &target);
	}
	t->ring_bytes = target.ring_bytes;
	return err == 0 || !target.is_raw ? err : first;
}

/* What this thread forks meanwhile is traced: the program, before it runs. */
static int start_command(void *self, const struct rti_trace_request *request,
                         struct rt_command **command)
{
	struct bpf_trace *t = self;
	int err = t->ops->arm(t->tracer, true);

	if (err == 0)
		err = rt_command_start(command, request->command);
	t->ops->arm(t->tracer, false);
	return err;
}

static int open_trace(void **self, const struct rti_trace_request *request)
{
	const struct rti_module_version version = { RTI_TRACE_PLUGIN,
		                                    sizeof(struct rti_trace_record) };
	struct bpf_trace *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->wakeup = (struct rti_wakeup)RTI_WAKEUP_INIT;
	t->exe_cache = request->exe_cache;
	t->timer_at_ns = RTI_PACE_NEVER;
	rti_platform_init(&t->platform, false);
	err = rti_module_open(&t->module, RTI_TRACE_ENTRY, version);
	if (err == 0) {
		t->ops = t->module.ops;
		err = open_tracer(t, request);
	} else if (err == -ENOENT) {
		err = -ENOPKG;
	}
	rti_bpf_describe(request, err);
	if (err == 0)
		err = rti_wakeup_open(&t->wakeup, true);
	if (err == 0)
		err = rti_wakeup_add(&t->wakeup, t->ops->fd(t->tracer));
	if (err < 0)
		close_trace(t);
	else
		*self = t;
	return err;
}

const struct rti_trace_back_end rti_trace_bpf = {
	.id = RT_TRACE_BACK_END_BPF,
	.open = open_trace,
	.start = start_command,
	.fd = get_fd,
	.read = read_records,
	.get_state = get_state,
	.close = close_trace,
};
