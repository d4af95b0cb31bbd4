/* SPDX-License-Identifier: MIT */
/* Commands: start a program, follow all it starts, learn what it used.
 *
 * Waits for children of its own alone, by pid, so that the host's other children, handlers and
 * threads are left alone. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "command/handle.h"
#include "os/spawn.h"
#include "tree/discovery.h"

#define NS_PER_S 1000000000
#define PEAK_POLL_NS 10000000u /* between two glances at least */
#define PEAK_POLL_SHARE 200    /* and this many times what one costs */
#define NAP_NS 2000000
#define MOST_NAPS 100         /* until those who were killed are gone */
#define MOST_ROUNDS 1000      /* of killing a tree that forks meanwhile */
#define LOOK_EVERY_NS 5000000 /* where there is no pidfd (before 5.3) */

/* Same numbers on every architecture; libcs of our age do not name them all. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* A supervisor and a cgroup account for a whole tree; a program alone is told apart from its
 * children only while it can be read. */
static int check_tracker_opts(struct rt_command_opts *out)
{
	if (!out->tracker || out->tracker->size < RTI_OPTS_V1)
		return 0; /* the tracker refuses it if need be */
	if (out->tracker->root)
		return -EINVAL;
	if (!(out->tracker->flags & RT_OPT_NO_CHILDREN))
		return 0;
	if (out->accounting > RT_ACCOUNTING_POLL)
		return -EINVAL;
	out->accounting = RT_ACCOUNTING_POLL;
	return 0;
}

static int copy_opts(struct rt_command_opts *out, const struct rt_command_opts *in)
{
	int err = rti_struct_copy_in(out, sizeof(*out), in, RTI_COMMAND_OPTS_V1);

	if (err < 0)
		return err;
	if (!out->argv)
		return -EFAULT;
	if (!out->argv[0] || out->flags & ~RT_COMMAND_LIST_PROCESSES || out->reserved ||
	    out->accounting > RT_ACCOUNTING_BPF)
		return -EINVAL;
	return check_tracker_opts(out);
}

static int start_supervised(struct rt_command *c, const struct rti_spawn *how, const char *cgroup)
{
	const bool has_clock = c->accounting == RT_ACCOUNTING_WAIT_PERF;
	const char start_flags[] = { c->has_list ? RTI_START_LIST : ' ',
		                     has_clock ? RTI_START_PERF : ' ', '\0' };
	const struct rti_supervisor_opts supervise = { .program = *how,
		                                       .cgroup = cgroup,
		                                       .start_flags = start_flags };

	return rti_supervisor_start(&c->supervisor, &supervise);
}

static int start_in_cgroup(struct rt_command *c, const struct rti_context *ctx,
                           const struct rti_spawn *how)
{
	int err = rti_cgroup_make(&c->cgroup, &c->enclosing, ctx);

	if (err < 0)
		return -EOPNOTSUPP; /* whatever the reason: not ours to use */
	err = start_supervised(c, how, c->cgroup.path);
	if (err < 0)
		rti_cgroup_remove(&c->cgroup);
	return err;
}

static int start_with(struct rt_command *c, const struct rti_context *ctx, uint32_t method,
                      const struct rti_spawn *how)
{
	c->accounting = method;
	switch (method) {
	case RT_ACCOUNTING_CGROUP:
		return start_in_cgroup(c, ctx, how);
	case RT_ACCOUNTING_WAIT:
	case RT_ACCOUNTING_WAIT_PERF:
		return start_supervised(c, how, "");
	case RT_ACCOUNTING_POLL:
		if (c->wants_fork_events)
			rti_fork_tracker_subscribe(&c->fork_tracker);
		return rti_spawn(how, &c->pid);
	default:
		return -EOPNOTSUPP;
	}
}

/* The rung that was asked for, or the best that can be had and does not slow the program down. */
static int start_program(struct rt_command *c, const struct rti_context *ctx,
                         const struct rt_command_opts *opts)
{
	static const uint32_t methods[] = { RT_ACCOUNTING_CGROUP, RT_ACCOUNTING_WAIT,
		                            RT_ACCOUNTING_POLL };
	const struct rti_spawn how = { .argv = opts->argv,
		                       .envp = opts->envp,
		                       .cwd = opts->cwd,
		                       .use_path = true,
		                       .stdout_fd = -1 };
	int err = -EOPNOTSUPP;

	if (opts->accounting != RT_ACCOUNTING_AUTO)
		err = start_with(c, ctx, opts->accounting, &how);
	else
		for (size_t i = 0; err == -EOPNOTSUPP && i < sizeof(methods) / sizeof(methods[0]);
		     i++)
			err = start_with(c, ctx, methods[i], &how);
	if (rti_command_is_supervised(c))
		c->pid = c->supervisor.program_pid;
	return err;
}

static int attach_tracker(struct rt_command *c, const struct rt_opts *opts)
{
	int32_t root = rti_command_is_supervised(c) ? c->supervisor.supervisor_pid : c->pid;
	struct rt_opts known = { .size = sizeof(known) };
	struct rti_tree *tree;
	int err = opts ? rti_struct_copy_in(&known, sizeof(known), opts, RTI_OPTS_V1) : 0;

	known.size = sizeof(known); /* what the caller set may be longer */
	/* a supervisor hears them for us, or we do already */
	known.flags &= ~RT_OPT_PROCESS_EVENTS;
	if (err == 0)
		err = rt_pid_tracker_new(&c->tracker, root, &known);
	if (err < 0)
		return err;
	tree = &c->tracker->tree;
	if (rti_command_is_supervised(c)) {
		rti_tree_set_supervisor(tree, c->supervisor.supervisor_pid, c->supervisor.shared);
		tree->cgroup = c->cgroup;
	}
	tree->table.fork_tracker = c->fork_tracker;
	c->fork_tracker = (struct rti_fork_tracker)RTI_FORK_TRACKER_INIT;
	rti_fork_tracker_set_root(&tree->table.fork_tracker, root);
	if (c->has_list) {
		c->process_list.tick_ns = c->tracker->platform.tick_ns;
		tree->process_list = &c->process_list;
	}
	return 0;
}

static int reap(int32_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, 0);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : 0;
}

static void kill_and_close(struct rt_command *c)
{
	int status;

	rt_command_signal(c, SIGKILL);
	if (rti_command_is_supervised(c))
		rti_supervisor_close(&c->supervisor);
	else
		reap(c->pid, &status);
	if (c->pidfd >= 0)
		close(c->pidfd);
}

/* All that has to happen before the tracker is there. */
static int prepare_and_start(struct rt_command *c, struct rti_platform *platform,
                             const struct rt_command_opts *opts)
{
	struct rti_buf buf = { 0 };
	struct rti_procfs procfs;
	const struct rti_context ctx = { .procfs = &procfs, .platform = platform, .buf = &buf };
	int err = rti_procfs_open(&procfs, NULL, &rti_procfs_linux);

	if (err < 0)
		return err == -ENOENT ? -ENOSYS : err; /* the program is not what is missing */
	rti_context_platform(&procfs, platform);
	err = rti_context_check_pids(&procfs, platform);
	if (err < 0) {
		rti_procfs_close(&procfs);
		return err;
	}
	rti_cgroup_enclosing(&c->enclosing, &ctx);
	c->enclosing_ns = rti_cgroup_read_usage(&c->enclosing, &ctx);
	platform->now(&c->start);
	err = start_program(c, &ctx, opts);
	rti_buf_free(&buf);
	rti_procfs_close(&procfs);
	return err;
}

static int start(struct rt_command *c, const struct rt_command_opts *opts)
{
	struct rt_metrics first;
	struct rti_platform platform;
	uint64_t started_ns;
	int err;

	c->has_list = (opts->flags & RT_COMMAND_LIST_PROCESSES) != 0;
	c->supervisor = (struct rti_supervisor){ .socket = -1, .memory = -1 };
	c->cgroup = (struct rti_cgroup)RTI_CGROUP_INIT;
	c->fork_tracker = (struct rti_fork_tracker)RTI_FORK_TRACKER_INIT;
	c->wants_fork_events = opts->tracker && opts->tracker->size >= RTI_OPTS_V1 &&
	                       opts->tracker->flags & RT_OPT_PROCESS_EVENTS &&
	                       !(opts->tracker->flags & RT_OPT_NO_CHILDREN);
	rti_platform_init(&platform, 0);
	started_ns = platform.thread_cpu_ns();
	err = prepare_and_start(c, &platform, opts);
	if (err < 0) {
		rti_fork_tracker_close(&c->fork_tracker);
		return err;
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	err = attach_tracker(c, opts->tracker);
	if (err < 0) {
		rti_fork_tracker_close(&c->fork_tracker);
		kill_and_close(c);
		return err;
	}
	/* One sample while it is sure to be there: however short its life, it was seen. */
	rt_sample(c->tracker, &first, sizeof(first));
	if (rti_command_is_supervised(c))
		rti_supervisor_proceed(&c->supervisor);
	c->next_poll_ns = c->start.monotonic_ns + PEAK_POLL_NS;
	c->overhead_ns = platform.thread_cpu_ns() - started_ns - c->tracker->self_cpu_ns;
	return 0;
}

int rt_command_start(struct rt_command **out, const struct rt_command_opts *opts)
{
	struct rt_command_opts known;
	struct rt_command *c;
	int err;

	if (!out)
		return -EFAULT;
	*out = NULL;
	if (!opts)
		return -EFAULT;
	err = copy_opts(&known, opts);
	if (err < 0)
		return err;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	err = start(c, &known);
	if (err < 0)
		free(c);
	else
		*out = c;
	return err;
}

int32_t rt_command_pid(const struct rt_command *c)
{
	return c ? c->pid : -EFAULT;
}

struct rt_tracker *rt_command_tracker(struct rt_command *c)
{
	return c ? c->tracker : NULL;
}

/* Async-signal-safe. */
int rt_command_signal(struct rt_command *c, int signal)
{
	int saved = errno, err = 0;

	if (!c)
		return -EFAULT;
	if (c->is_over)
		err = -ESRCH;
	else if (c->pidfd >= 0 ? syscall(SYS_pidfd_send_signal, c->pidfd, signal, NULL, 0) < 0
	                       : kill(c->pid, signal) < 0)
		err = -errno;
	errno = saved;
	return err;
}

/* By a pidfd that was opened before the member was recognised, so that no stranger is hit. */
static int kill_member(const struct rti_tree *tree, const struct rti_context *ctx,
                       struct rti_member *m)
{
	int fd = (int)syscall(SYS_pidfd_open, m->pid, 0), err = 0;

	if (m->pid != tree->supervisor_pid && rti_member_is_alive(ctx, m) &&
	    (fd >= 0 ? syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0)
	             : kill(m->pid, SIGKILL)) < 0 &&
	    errno != ESRCH)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Those who are forked meanwhile are found in the next round; the dead no longer fork. */
static int kill_members(struct rti_tree *tree, const struct rti_context *ctx)
{
	size_t known = 0;
	int err = 0;

	for (int rounds = 0;
	     rounds < MOST_ROUNDS && (known != tree->table.members_seen || rounds < 2); rounds++) {
		known = tree->table.members_seen;
		for (size_t i = 0; i < tree->table.count; i++) {
			int failed = kill_member(tree, ctx, &tree->table.members[i]);

			err = failed < 0 ? failed : err;
		}
		rti_discover_members(&tree->table, ctx);
	}
	return err;
}

/* They take a moment to end. */
static void wait_for_killed(struct rt_command *c)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	struct rt_metrics metrics;

	for (int naps = 0; naps < MOST_NAPS; naps++) {
		if (rt_sample(c->tracker, &metrics, sizeof(metrics)) == -ESRCH ||
		    !rti_tree_count_running(&c->tracker->tree))
			return;
		nanosleep(&nap, NULL);
	}
}

int rt_command_kill(struct rt_command *c)
{
	struct rti_tree *tree;
	int err = 0;

	if (!c)
		return -EFAULT;
	tree = &c->tracker->tree;
	if (rti_cgroup_kill(&tree->cgroup) < 0) {
		rti_discover_members(&tree->table, &c->tracker->ctx);
		err = kill_members(tree, &c->tracker->ctx);
	}
	if (c->is_over && c->outcome.left_running) {
		wait_for_killed(c);
		rti_command_finish_again(c);
	}
	return err;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

/* Of a child of our own, or of one whose supervisor is gone. */
static bool has_exited(int32_t pid)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0)
		return kill(pid, 0) < 0 && errno == ESRCH;
	return info.si_pid == pid;
}

/* 0, -ETIMEDOUT or -EINTR. */
static int wait_by_looking(struct rt_command *c, int64_t timeout_ns)
{
	for (int64_t waited_ns = 0;; waited_ns += LOOK_EVERY_NS) {
		struct timespec nap = to_timespec(LOOK_EVERY_NS);

		if (has_exited(c->pid))
			return 0;
		if (timeout_ns >= 0 && waited_ns >= timeout_ns)
			return -ETIMEDOUT;
		if (nanosleep(&nap, NULL) < 0)
			return -EINTR;
	}
}

static int wait_for_exit(struct rt_command *c, int64_t timeout_ns)
{
	struct pollfd exit_event = { .fd = c->pidfd, .events = POLLIN };
	struct timespec timeout = to_timespec(timeout_ns);
	int n;

	if (c->pidfd < 0)
		return wait_by_looking(c, timeout_ns);
	n = ppoll(&exit_event, 1, timeout_ns < 0 ? NULL : &timeout, NULL);
	if (n < 0)
		return -errno;
	return n == 0 ? -ETIMEDOUT : 0;
}

/* A while at most, or until it has ended. */
static int wait_a_while(struct rt_command *c, int64_t timeout_ns)
{
	int err = rti_command_is_supervised(c) ? rti_supervisor_wait(&c->supervisor, timeout_ns)
	                                       : wait_for_exit(c, timeout_ns);

	if (err == -ETIMEDOUT && rti_command_is_supervised(c) && c->pidfd >= 0 &&
	    wait_for_exit(c, 0) == 0)
		/* the program has ended, and its supervisor does not say so */
		rti_supervisor_continue(&c->supervisor);
	/* the supervisor is gone: the program need not be */
	if (err == -ECHILD && rti_command_is_supervised(c))
		err = wait_for_exit(c, timeout_ns);
	return err;
}

/* The next glance comes when this one has cost little of the time until then. */
static void poll_peak(struct rt_command *c, uint64_t now_ns)
{
	uint64_t cost_ns = c->tracker->self_cpu_ns;

	if (rt_tracker_glance(c->tracker) < 0) {
		c->next_poll_ns = UINT64_MAX; /* memory is not wanted */
		return;
	}
	cost_ns = c->tracker->self_cpu_ns - cost_ns;
	c->next_poll_ns =
	    now_ns +
	    (cost_ns * PEAK_POLL_SHARE > PEAK_POLL_NS ? cost_ns * PEAK_POLL_SHARE : PEAK_POLL_NS);
}

static uint64_t now_ns(const struct rt_command *c)
{
	struct rti_now now;

	c->tracker->platform.now(&now);
	return now.monotonic_ns;
}

/* While it waits, it looks for peaks. Negative times are for ever. */
static int wait_and_poll_peaks(struct rt_command *c, int64_t timeout_ns)
{
	uint64_t now = now_ns(c), end_ns = timeout_ns < 0 ? UINT64_MAX : now + (uint64_t)timeout_ns;
	int err;

	for (;;) {
		uint64_t until_ns = c->next_poll_ns < end_ns ? c->next_poll_ns : end_ns;

		err = wait_a_while(c, until_ns > now ? (int64_t)(until_ns - now) : 0);
		if (err != -ETIMEDOUT || until_ns == end_ns)
			return err;
		now = now_ns(c);
		poll_peak(c, now);
	}
}

int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                    size_t out_size)
{
	int err;

	if (!c)
		return -EFAULT;
	if (out && rti_struct_check_size(out_size, RTI_OUTCOME_V1) < 0)
		return -EINVAL;
	if (!c->is_over) {
		err = wait_and_poll_peaks(c, timeout_ns);
		if (err == -ETIMEDOUT || err == -EINTR)
			return err;
		c->result = rti_command_finish(c);
	}
	if (out)
		rti_struct_copy_out(out, out_size, &c->outcome, sizeof(c->outcome));
	return c->result;
}

int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                         size_t element_size, size_t *count)
{
	size_t room;

	if (!c || !count || (!array && *count))
		return -EFAULT;
	if (rti_struct_check_size(element_size, RTI_COMMAND_PROCESS_V1) < 0)
		return -EINVAL;
	if (!c->has_list)
		return -EOPNOTSUPP;
	if (!c->is_over)
		return -ENODATA;
	room = *count;
	*count = c->process_list.count;
	for (size_t i = 0; i < c->process_list.count && i < room; i++)
		rti_struct_copy_out((char *)array + i * element_size, element_size,
		                    &c->process_list.rows[i], sizeof(c->process_list.rows[i]));
	return c->process_list.is_short ? -ENOMEM : 0;
}

void rt_command_free(struct rt_command *c)
{
	if (!c)
		return;
	if (rti_command_is_supervised(c))
		rti_supervisor_close(&c->supervisor);
	rt_tracker_free(c->tracker);
	rti_process_list_free(&c->process_list);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}
