/* SPDX-License-Identifier: MIT */
/* Commands: start a program, signal it, kill all that it started, end.
 *
 * Only children of our own are waited for, by pid, so that the host's other children, handlers
 * and threads are left alone. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "command/cgroup_watch.h"
#include "command/handle.h"
#include "command/outcome.h"
#include "command/start_error.h"
#include "command/wait.h"
#include "os/process/fd_map.h"
#include "os/process/pidfd.h"
#include "os/process/spawn.h"
#include "recorder/recorder.h"
#include "tree/sources/fork_tracker.h"
#include "util/arith.h"

#define NAP_NS 2000000
#define NAPS_MAX 100                     /* until killed processes are gone */
#define GONE_MAX_NS UINT64_C(1000000000) /* likewise, if each look takes long */
#define KILLED_MAX_NS UINT64_C(1000000000)

/* What the start of a program needs until its tracker is there. */
struct start {
	struct rt_command *c;
	const struct rt_command_opts *opts;
	bool wants_fork_events;
	struct rti_fork_tracker fork_tracker; /* subscribed before the program starts */
	struct rti_cgroup cgroup;             /* that the program starts in */
};

/* A supervisor and a cgroup account for a whole tree, not for the program alone. So
 * RT_OPT_NO_CHILDREN works only with RT_ACCOUNTING_POLL. */
static int check_tracker_opts(struct rt_command_opts *out)
{
	struct rt_opts known;
	int err = rti_tracker_check_opts(out->tracker, &known);

	if (err < 0)
		return err;
	if (known.root)
		return -EINVAL;
	if (!(known.flags & RT_OPT_NO_CHILDREN))
		return 0;
	if (out->accounting > RT_ACCOUNTING_POLL)
		return -EINVAL;
	out->accounting = RT_ACCOUNTING_POLL;
	return 0;
}

static int check_opts(struct rt_command_opts *opts)
{
	int err;

	if (!opts->argv || (!opts->fds && opts->fd_count))
		return -EFAULT;
	if (!opts->argv[0] || opts->flags & ~RTI_COMMAND_FLAGS || opts->reserved ||
	    opts->accounting > RT_ACCOUNTING_BPF)
		return -EINVAL;
	if (opts->accounting == RT_ACCOUNTING_WAIT_PERF) /* of programs of 0.2 */
		opts->accounting = RT_ACCOUNTING_WAIT;
	err = rti_fd_map_check(opts->fds, opts->fd_count);
	if (err == 0)
		err = check_tracker_opts(opts);
	/* As chdir(2) says. For the supervisor an empty one would mean none. */
	return err == 0 && opts->cwd && !*opts->cwd ? -ENOENT : err;
}

static int start_supervised(struct rt_command *c, const struct rti_spawn *program,
                            const char *cgroup)
{
	/* It counts what a supervisor forks, and all of that. */
	const bool is_bpf = c->accounting == RT_ACCOUNTING_BPF;
	const bool has_list = c->has_list && !is_bpf;
	const char flags[] = { has_list ? RTI_START_LIST : ' ',
		               program->has_new_group ? RTI_START_GROUP : ' ',
		               program->has_new_session ? RTI_START_SESSION : ' ',
		               is_bpf ? RTI_START_COUNTED : ' ', '\0' };
	const struct rti_supervisor_opts opts = { .program = *program,
		                                  .cgroup = cgroup,
		                                  .start_flags = flags,
		                                  .may_be_caller = c->may_be_supervisor && !is_bpf,
		                                  .end_ns = c->start_end_ns,
		                                  .ctx = &c->tracker->ctx };

	return rti_supervisor_start(&c->supervisor, &opts);
}

/* -EACCES and -ENOENT mean the program, so what a method needs and cannot have is -EOPNOTSUPP.
 * E.g.: a cgroup that may not be made. What is short, e.g. descriptors, what is wrong with the
 * supervisor, and what the caller hands over for the program stays what it is. */
static int method_error(int err)
{
	switch (err) {
	case -ENOPKG:
	case -EPROTO:
	case -ECHILD:
	case -ETIMEDOUT:
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -EAGAIN:
	case -E2BIG:
	case -EBADF:
		return err;
	default:
		return -EOPNOTSUPP;
	}
}

static int start_in_cgroup_of(struct start *s, const struct rti_context *ctx,
                              const struct rti_spawn *program, unsigned flags)
{
	const size_t size = RTI_CGROUP_DIRS_MAX * (sizeof(s->cgroup.dir->path) + 2);
	int err = rti_cgroup_make(&s->cgroup, &s->c->enclosing, ctx, flags);
	char *dirs; /* too large for the stack of a small thread */

	if (err < 0)
		return s->opts->accounting == RT_ACCOUNTING_AUTO ? -EOPNOTSUPP : method_error(err);
	dirs = malloc(size);
	err = dirs ? 0 : -ENOMEM;
	if (err == 0 && rti_cgroup_describe(&s->cgroup, dirs, size) < 0)
		err = -EOPNOTSUPP;
	if (err == 0)
		err = start_supervised(s->c, program, dirs);
	free(dirs);
	if (err < 0)
		rti_cgroup_remove(&s->cgroup);
	else
		rti_cgroup_keep_placed(&s->cgroup, s->c->supervisor.started.placed);
	return err;
}

/* A cgroup that is not asked for must not change how the program is scheduled, and if there can be
 * none, the next method is tried. v2 may let a cgroup be made and no process be moved there. E.g.:
 * a user owns the directory, but not cgroup.procs in it. */
static int start_in_cgroup(struct start *s, const struct rti_context *ctx,
                           const struct rti_spawn *program)
{
	unsigned flags = s->opts->accounting == RT_ACCOUNTING_AUTO ? RTI_CGROUP_KEEP_SCHEDULING : 0;
	int err = start_in_cgroup_of(s, ctx, program, flags);

	if (err == -EOPNOTSUPP && s->c->enclosing.count && s->c->enclosing.dir[0].hierarchy == 0)
		err = start_in_cgroup_of(s, ctx, program, flags | RTI_CGROUP_V1_ALONE);
	/* What was left behind may be in the way of the next one. See start(). */
	if (err < 0)
		rti_cgroup_remove_stale(&s->c->enclosing, ctx);
	return err;
}

static int start_with(struct start *s, const struct rti_context *ctx, uint32_t method,
                      const struct rti_spawn *program)
{
	int err;

	s->c->accounting = method;
	switch (method) {
	case RT_ACCOUNTING_CGROUP:
		return start_in_cgroup(s, ctx, program);
	case RT_ACCOUNTING_WAIT:
		return start_supervised(s->c, program, "");
	case RT_ACCOUNTING_BPF:
		/* This thread forks nothing but the supervisor while the account is armed. So what
		 * the supervisor forks is accounted for from the beginning. */
		err = rti_command_account_arm(&s->c->account, true);
		if (err == 0)
			err = start_supervised(s->c, program, "");
		rti_command_account_arm(&s->c->account, false);
		return err;
	case RT_ACCOUNTING_POLL:
		if (s->wants_fork_events)
			rti_fork_tracker_subscribe_to_all(&s->fork_tracker);
		err = rti_spawn(program, &s->c->pid);
		rti_fork_tracker_filter(&s->fork_tracker);
		return err;
	default:
		return -EOPNOTSUPP;
	}
}

/* With the accounting method that was asked for, or the best one that can be had here and does
 * not slow the program down. */
static int start_program(struct start *s, const struct rti_context *ctx)
{
	static const uint32_t methods[] = { RT_ACCOUNTING_CGROUP, RT_ACCOUNTING_WAIT,
		                            RT_ACCOUNTING_POLL };
	const struct rt_command_opts *opts = s->opts;
	const struct rti_spawn program = { .argv = opts->argv,
		                           .envp = opts->envp,
		                           .cwd = opts->cwd,
		                           .use_path = true,
		                           .stdout_fd = -1,
		                           .fds = opts->fds,
		                           .fd_count = opts->fd_count,
		                           .has_only_fds = opts->flags & RT_COMMAND_ONLY_FDS,
		                           .has_new_group = opts->flags & RT_COMMAND_NEW_GROUP,
		                           .has_new_session =
		                               opts->flags & RT_COMMAND_NEW_SESSION };
	int err = -EOPNOTSUPP;

	if (opts->accounting != RT_ACCOUNTING_AUTO) {
		err = start_with(s, ctx, opts->accounting, &program);
		/* A stopped supervisor was killed here. */
		if (err == -EOPNOTSUPP && s->c->supervisor.error)
			err = s->c->supervisor.error == -EBUSY
			          ? -ECHILD
			          : method_error(s->c->supervisor.error);
	} else {
		for (size_t i = 0; err == -EOPNOTSUPP && i < sizeof(methods) / sizeof(methods[0]);
		     i++)
			err = start_with(s, ctx, methods[i], &program);
		s->c->lacks_supervisor = s->c->accounting == RT_ACCOUNTING_POLL;
	}
	if (rti_command_is_supervised(s->c))
		s->c->pid = s->c->supervisor.program_pid;
	return err;
}

/* -EACCES and -ENOENT mean the program, so whatever keeps /proc from being read is -ENOSYS. */
static int tracker_error(int err)
{
	switch (err) {
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -EXDEV:
		return err;
	default:
		return -ENOSYS;
	}
}

/* Make the tracker before there is a program: what it opens and allocates may fail, and a program
 * that runs must not be killed for that. Its root is this process until then. */
static int make_tracker(struct start *s)
{
	struct rt_command *c = s->c;
	struct rti_platform platform;
	struct rt_opts known;
	int err = rti_tracker_check_opts(s->opts->tracker, &known);

	rti_platform_init(&platform, false);
	known.size = sizeof(known); /* the caller's struct may be longer */
	known.message = NULL;       /* the message of the command has it */
	/* The supervisor receives the events, or we subscribe to them. */
	known.flags = (known.flags & ~RT_OPT_PROCESS_EVENTS) | RT_OPT_NO_PROCESS_EVENTS;
	if (err == 0)
		err = rt_pid_tracker_new(&c->tracker, platform.getpid(), &known);
	if (err < 0)
		return tracker_error(err);
	c->process_list.tick_ns = c->tracker->platform.tick_ns;
	return 0;
}

static int prepare_and_start(struct start *s)
{
	struct rt_command *c = s->c;
	const struct rti_context *ctx = &c->tracker->ctx;
	int err = 0;

	/* Loading the programs takes some 20 ms, which are not part of the command's time. */
	if (s->opts->accounting == RT_ACCOUNTING_BPF)
		err = rti_command_account_open(&c->account, c->has_list);
	if (err == -ENOPKG) /* the plug-in; to the caller it would mean the supervisor */
		return -EOPNOTSUPP;
	if (err < 0)
		return method_error(err);
	rti_cgroup_enclosing(&c->enclosing, ctx);
	c->enclosing_ns = rti_cgroup_read_usage(&c->enclosing, ctx);
	ctx->platform->now(&c->start);
	c->start_end_ns = s->opts->start_timeout_ns
	                      ? rti_add_saturated(c->start.monotonic_ns, s->opts->start_timeout_ns)
	                      : UINT64_MAX;
	return start_program(s, ctx);
}

/* The root is the supervisor if there is one. Returns 0, or -ESRCH if the program is no child of
 * this process any more. Nothing else can fail: see make_tracker(). */
static int attach_tracker(struct start *s)
{
	struct rt_command *c = s->c;
	bool is_supervised = rti_command_is_supervised(c);
	struct rti_tree_command command = {
		.root = is_supervised ? c->supervisor.supervisor_pid : c->pid,
		.supervisor_pid = is_supervised ? c->supervisor.supervisor_pid : 0,
		.shared = is_supervised ? c->supervisor.shared : NULL,
		.reaped = c->supervisor.is_own ? &c->supervisor.reaped : NULL,
		.account = c->account.programs,
		.cgroup = &s->cgroup,
		.fork_tracker = &s->fork_tracker,
		.on_exit = c->has_list ? rti_process_list_add_exited : NULL,
		.on_exit_arg = &c->process_list,
	};
	int err = rti_tree_attach_command(c->tracker->tree, &command);

	/* A supervisor that was killed leaves the program to another process. */
	if (is_supervised)
		err = 0;
	c->tracker->lock = &c->lock;
	c->tracker->command_pid = c->owner;
	return err;
}

static int start(struct start *s)
{
	struct rt_command *c = s->c;
	struct rt_metrics first;
	int err = make_tracker(s);

	if (err == 0)
		err = prepare_and_start(s);
	if (err < 0)
		return err;
	c->pidfd = rti_pidfd_open(c->pid);
	if (attach_tracker(s) < 0) {
		/* A child of our own that has no process any more was reaped. */
		rti_pidfd_close(c->pidfd);
		return -ECHILD;
	}
	/* Sample once while the program is sure to be there: however short it runs, it was seen. */
	rti_tracker_sample(c->tracker, &first, sizeof(first));
	if (rti_command_is_supervised(c))
		rti_supervisor_proceed(&c->supervisor);
	rti_wait_begin(c);
	/* While the program runs: to look takes 30 us. */
	if (c->accounting == RT_ACCOUNTING_CGROUP)
		rti_cgroup_remove_stale(&c->enclosing, &c->tracker->ctx);
	return 0;
}

static void free_command(struct rt_command *c)
{
	rti_command_account_close(&c->account);
	rti_wakeup_close(c->wakeup);
	rti_interrupt_close(&c->interrupt);
	free(c->wakeup);
	rti_lock_free(&c->lock);
	free(c);
}

static struct rt_command *new_command(void)
{
	struct rt_command *c = calloc(1, sizeof(*c));

	if (c)
		c->wakeup = malloc(sizeof(*c->wakeup));
	if (!c || !c->wakeup) {
		free(c);
		return NULL;
	}
	*c->wakeup = (struct rti_wakeup)RTI_WAKEUP_INIT;
	rti_lock_init(&c->lock);
	rti_interrupt_open(&c->interrupt);
	c->supervisor = (struct rti_supervisor){ .socket = -1, .memory = -1 };
	c->enclosing = (struct rti_cgroup)RTI_CGROUP_INIT;
	return c;
}

/* opts is a copy in our own layout. *why is what keeps a supervisor from being started, or 0. */
static int start_command(struct rt_command **out, struct rt_command_opts *opts, int *why)
{
	struct start s = { .opts = opts,
		           .fork_tracker = RTI_FORK_TRACKER_INIT,
		           .cgroup = RTI_CGROUP_INIT };
	const struct rt_opts *tracker = opts->tracker;
	struct rti_platform platform;
	uint64_t started_ns;
	int err = check_opts(opts);

	if (err < 0)
		return err;
	s.c = new_command();
	if (!s.c)
		return -ENOMEM;
	s.c->has_list = (opts->flags & RT_COMMAND_LIST_PROCESSES) != 0;
	s.c->may_be_supervisor = (opts->flags & RT_COMMAND_SUBREAPER_SELF) != 0;
	s.c->is_killed_on_free = (opts->flags & RT_COMMAND_KILL_ON_FREE) != 0;
	s.wants_fork_events = tracker && tracker->size >= RTI_OPTS_V1 &&
	                      tracker->flags & RT_OPT_PROCESS_EVENTS &&
	                      !(tracker->flags & RT_OPT_NO_CHILDREN);
	rti_platform_init(&platform, false);
	s.c->owner = platform.getpid();
	started_ns = platform.thread_cpu_ns();
	err = start(&s);
	*why = s.c->supervisor.error;
	if (err < 0) {
		rt_tracker_free(s.c->tracker);
		rti_fork_tracker_close(&s.fork_tracker);
		free(s.cgroup.dir); /* no tree has taken it */
		free(s.c->enclosing.dir);
		free_command(s.c);
		return err;
	}
	s.c->overhead_ns = platform.thread_cpu_ns() - started_ns - s.c->tracker->self_cpu_ns;
	*out = s.c;
	return 0;
}

int rt_command_start(struct rt_command **out, const struct rt_command_opts *opts)
{
	struct rt_command_opts known;
	int err, why = 0;

	if (!out)
		return -EFAULT;
	*out = NULL;
	if (!opts)
		return -EFAULT;
	err = rti_struct_copy_in(&known, sizeof(known), opts, RTI_COMMAND_OPTS_V1);
	if (err < 0)
		return err;
	err = start_command(out, &known, &why);
	if (err < 0)
		rti_start_error_describe(&known, err, why);
	return err;
}

int32_t rt_command_pid(const struct rt_command *c)
{
	return c ? c->pid : -EFAULT;
}

int rt_command_get_info(const struct rt_command *c, struct rt_command_info *out, size_t out_size)
{
	struct rt_command_info info;

	if (!c || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_COMMAND_INFO_V1) < 0)
		return -EINVAL;
	info = (struct rt_command_info){
		.accounting = c->accounting,
		.start_ns = c->start.monotonic_ns,
	};
	rti_struct_copy_out(out, out_size, &info, sizeof(info));
	return 0;
}

struct rt_tracker *rt_command_tracker(struct rt_command *c)
{
	return c ? c->tracker : NULL;
}

/* Async-signal-safe. */
int rt_command_signal(struct rt_command *c, int signal)
{
	int saved = errno;
	bool has_ended;

	if (!c)
		return -EFAULT;
	if (c->is_over)
		return -ESRCH;
	has_ended = c->pidfd >= 0 && rti_pidfd_wait(c->pidfd, -1, 0) == 0;
	errno = saved;
	if (!has_ended)
		return rti_pidfd_signal(c->pidfd, c->pid, signal);
	/* A user ends a command by one of these. */
	if (signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP ||
	    signal == SIGKILL)
		c->is_report_unwanted = true;
	return -ESRCH;
}

/* Killed processes take a moment to end. */
static void wait_for_killed(struct rt_command *c)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	struct rti_tree_facts facts;
	struct rt_metrics metrics;
	const struct rti_platform *platform = &c->tracker->platform;
	uint64_t end_ns = platform->monotonic_ns() + GONE_MAX_NS;

	for (int naps = 0; naps < NAPS_MAX && platform->monotonic_ns() < end_ns; naps++) {
		rti_tracker_sample(c->tracker, &metrics, sizeof(metrics));
		rti_tree_get_facts(c->tracker->tree, &facts);
		if (facts.running == 0)
			return;
		nanosleep(&nap, NULL);
	}
}

static int kill_tree(struct rt_command *c)
{
	const struct rti_cgroup *cgroup;
	int err = 0;

	/* What has left the cgroup is a member all the same. */
	rti_cgroup_watch_look(c);
	cgroup = rti_tree_cgroup(c->tracker->tree);
	if (rti_cgroup_kill(cgroup, &c->tracker->ctx) < 0 || cgroup->left)
		err = rti_tree_kill(c->tracker->tree);
	if (c->is_over && c->outcome.left_running) {
		wait_for_killed(c);
		rti_outcome_update(c);
	}
	return err;
}

int rt_command_kill(struct rt_command *c)
{
	int err;

	if (!c)
		return -EFAULT;
	err = rti_tracker_take(c->tracker);
	if (err < 0)
		return err;
	err = kill_tree(c);
	rti_lock_release(&c->lock);
	return err;
}

/* Killed processes end at once, unless the kernel is busy for them. Signals to the caller make the
 * wait no longer. */
static void end_all(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	uint64_t end_ns, now;
	int err;

	rt_command_kill(c);
	now = platform->monotonic_ns();
	end_ns = now + KILLED_MAX_NS;
	do {
		err = rt_command_wait(c, (int64_t)(end_ns - now), NULL, 0);
		now = rti_min(platform->monotonic_ns(), end_ns);
	} while (err == -EINTR && now < end_ns);
	/* What was forked meanwhile, or did not end with the program. */
	if (err != -ETIMEDOUT && c->outcome.left_running)
		rt_command_kill(c);
}

/* A forked child has a copy of the handle, e.g. one that an exit hook frees. It shares the socket
 * of the supervisor with its parent, so it must not receive a report. */
void rt_command_free(struct rt_command *c)
{
	if (!c)
		return;
	if (c->owner == c->tracker->platform.getpid()) {
		rti_recorder_detach(c->tracker->recorder);
		if (c->is_killed_on_free && (!c->is_over || c->outcome.left_running))
			end_all(c);
		if (rti_command_is_supervised(c))
			rti_supervisor_close(&c->supervisor,
			                     !c->is_over && !c->supervisor.exited.kind);
		/* A supervisor that was killed has not removed the cgroup. */
		if (c->is_over && c->is_supervisor_lost)
			rti_cgroup_reclaim(rti_tree_cgroup(c->tracker->tree), &c->tracker->ctx);
	} else {
		rti_supervisor_close_copy(&c->supervisor);
	}
	rti_cgroup_close(&c->enclosing, &c->tracker->ctx);
	rt_tracker_free(c->tracker);
	rti_process_list_free(&c->process_list);
	rti_pidfd_close(c->pidfd);
	free_command(c);
}
