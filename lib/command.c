/* SPDX-License-Identifier: MIT */
/* Commands: start a program, follow all it starts, learn what it used.
 *
 * Waits for children of its own alone, by pid, so that the host's other children, handlers and threads are left alone. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "abi.h"
#include "cgroup.h"
#include "program.h"
#include "rusage.h"
#include "supervise.h"
#include "tracker.h"

#define NS_PER_S 1000000000
#define UNVERIFIED_NS 10000000u /* CPU time that may go unnoticed: a tick */
#define LOOK_EVERY_NS 5000000 /* where there is no pidfd (before 5.3) */

/* Same numbers on every architecture; libcs of our age do not name them all. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

struct rt_command {
	int32_t pid; /* of the program */
	int pidfd;   /* -1 before 5.3 */
	volatile sig_atomic_t is_over;
	uint32_t accounting;
	struct rti_supervised supervised; /* socket -1 where there is no supervisor: the program is our own child */
	struct rti_cgroup cgroup;         /* of the program, until its tracker takes it */
	struct rti_cgroup enclosing;      /* ours, which bounds what the program can have used */
	uint64_t enclosing_ns;            /* CPU time used in there before the start; UINT64_MAX: unknown */
	struct rt_tracker *tracker;
	struct rti_now start;
	uint64_t overhead_ns; /* of starting and ending; the tracker counts its own */
	int result;           /* of rt_command_wait(), once it is over */
	struct rt_outcome outcome;
};

static int is_supervised(const struct rt_command *c)
{
	return c->accounting != RT_ACCOUNTING_POLL;
}

/* A supervisor and a cgroup account for a whole tree; a program alone is told apart from its children only while it can
 * be read. */
static int take_tracker_opts(struct rt_command_opts *out)
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

static int take_opts(struct rt_command_opts *out, const struct rt_command_opts *in)
{
	int err = rti_abi_take(out, sizeof(*out), in, RTI_COMMAND_OPTS_V1);

	if (err < 0)
		return err;
	if (!out->argv)
		return -EFAULT;
	if (!out->argv[0] || out->flags || out->reserved || out->accounting > RT_ACCOUNTING_CGROUP)
		return -EINVAL;
	return take_tracker_opts(out);
}

static int start_in_cgroup(struct rt_command *c, const struct rti_context *ctx, const struct rti_spawn *how)
{
	int err = rti_cgroup_make(&c->cgroup, ctx);

	if (err < 0)
		return -EOPNOTSUPP; /* whatever the reason: not ours to use */
	err = rti_supervise_start(&c->supervised, how, c->cgroup.path);
	if (err < 0)
		rti_cgroup_remove(&c->cgroup);
	return err;
}

static int start_at(struct rt_command *c, const struct rti_context *ctx, uint32_t rung, const struct rti_spawn *how)
{
	c->accounting = rung;
	switch (rung) {
	case RT_ACCOUNTING_CGROUP:
		return start_in_cgroup(c, ctx, how);
	case RT_ACCOUNTING_WAIT:
		return rti_supervise_start(&c->supervised, how, "");
	default:
		return rti_spawn(how, &c->pid);
	}
}

/* The rung that was asked for, or the best that can be had. */
static int start_program(struct rt_command *c, const struct rti_context *ctx, const struct rt_command_opts *opts)
{
	static const uint32_t rungs[] = { RT_ACCOUNTING_CGROUP, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_POLL };
	const struct rti_spawn how = {
		.argv = opts->argv, .envp = opts->envp, .cwd = opts->cwd, .use_path = 1, .stdout_fd = -1
	};
	int err = -EOPNOTSUPP;

	c->supervised.socket = -1;
	c->cgroup = (struct rti_cgroup)RTI_CGROUP_INIT;
	for (size_t i = 0; err == -EOPNOTSUPP && i < sizeof(rungs) / sizeof(rungs[0]); i++) {
		if (opts->accounting == RT_ACCOUNTING_AUTO || opts->accounting == rungs[i])
			err = start_at(c, ctx, rungs[i], &how);
	}
	if (is_supervised(c))
		c->pid = c->supervised.program_pid;
	return err;
}

static int follow(struct rt_command *c, const struct rt_opts *opts)
{
	const uint64_t *io = c->supervised.started.own_io;
	const struct rti_pid_io own_io = { io[0], io[1], io[2], io[3], io[4] };
	int err;

	if (!is_supervised(c))
		return rt_pid_tracker_new(&c->tracker, c->pid, opts);
	err = rt_pid_tracker_new(&c->tracker, c->supervised.supervisor_pid, opts);
	if (err == 0) {
		rti_tree_set_keeper(&c->tracker->tree, c->supervised.supervisor_pid, &own_io);
		c->tracker->tree.cgroup = c->cgroup;
	}
	return err;
}

static int reap(int32_t pid, int *status)
{
	pid_t got;

	do {
		got = waitpid(pid, status, 0);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : 0;
}

static void abandon(struct rt_command *c)
{
	int status;

	rt_command_signal(c, SIGKILL);
	if (is_supervised(c))
		rti_supervise_close(&c->supervised);
	else
		reap(c->pid, &status);
	if (c->pidfd >= 0)
		close(c->pidfd);
}

static uint64_t enclosing_cpu_ns(struct rt_command *c, const struct rti_context *ctx)
{
	uint64_t user_ns, system_ns;

	return rti_cgroup_read_cpu(&c->enclosing, ctx, &user_ns, &system_ns) == 0 ? user_ns + system_ns : UINT64_MAX;
}

/* All that has to happen before the tracker is there. */
static int prepare_and_start(struct rt_command *c, struct rti_env *env, const struct rt_command_opts *opts)
{
	struct rti_buf buf = { 0 };
	struct rti_source source;
	const struct rti_context ctx = { .source = &source, .env = env, .buf = &buf };
	int err = rti_source_open(&source, NULL, &rti_source_linux);

	if (err < 0)
		return err == -ENOENT ? -ENOSYS : err; /* the program is not what is missing */
	rti_context_env(&source, env);
	err = rti_context_check_pids(&source, env);
	if (err < 0) {
		rti_source_close(&source);
		return err;
	}
	rti_cgroup_enclosing(&c->enclosing, &ctx);
	c->enclosing_ns = enclosing_cpu_ns(c, &ctx);
	rti_source_close_file(&source, &c->enclosing.cpu);
	env->now(&c->start);
	err = start_program(c, &ctx, opts);
	rti_buf_free(&buf);
	rti_source_close(&source);
	return err;
}

static int start(struct rt_command *c, const struct rt_command_opts *opts)
{
	struct rt_metrics first;
	struct rti_env env;
	uint64_t started_ns;
	int err;

	rti_env_init(&env, 0);
	started_ns = env.thread_cpu_ns();
	err = prepare_and_start(c, &env, opts);
	if (err < 0)
		return err;
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	err = follow(c, opts->tracker);
	if (err < 0) {
		abandon(c);
		return err;
	}
	/* One sample while it is sure to be there: however short its life, it was seen. */
	rt_sample(c->tracker, &first, sizeof(first));
	if (is_supervised(c))
		rti_supervise_proceed(&c->supervised);
	c->overhead_ns = env.thread_cpu_ns() - started_ns - c->tracker->self_cpu_ns;
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
	err = take_opts(&known, opts);
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

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

/* Of a child of our own, or of one whose supervisor is gone. */
static int has_exited(int32_t pid)
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

/* Final figures of a child of our own: it can be read as long as nobody has reaped it. */
static int finish_child(struct rt_command *c, struct rt_metrics *m, int *status)
{
	int err;

	rt_sample(c->tracker, m, sizeof(*m));
	err = reap(c->pid, status);
	if (err == 0)
		rti_tree_retire_root(&c->tracker->tree, &c->tracker->ctx, c->pid);
	rt_sample(c->tracker, m, sizeof(*m));
	c->outcome.reasons = m->reasons;
	if (!c->tracker->tree.ledger.own_only)
		c->outcome.reasons |= RT_REASON_ORPHANS_UNSEEN;
	return err;
}

/* The supervisor has reaped the program: its own account of that is the kernel's, to the microsecond. What it adopts it
 * may be reaping still, so whoever was there at the first look is looked at once more. */
static int finish_supervised(struct rt_command *c, struct rt_metrics *m, int *status)
{
	const struct rti_supervised *s = &c->supervised;
	struct rt_rusage reaped;
	int err = s->exited.kind ? 0 : -ECHILD;

	for (int looks = 0; looks < 2; looks++) {
		if (err == 0)
			err = rti_supervise_account(&c->supervised);
		if (err == 0) {
			rti_rusage_from_kernel(&s->accounted.reaped, &reaped);
			rti_tree_settle(&c->tracker->tree, &reaped, s->started.bequeathed_kib);
		}
		if (rt_sample(c->tracker, m, sizeof(*m)) == -ESRCH)
			break;
	}
	*status = s->exited.status;
	c->outcome.reasons = m->reasons;
	if (s->accounted.ignored_sigchld)
		c->outcome.reasons |= RT_REASON_SIGCHLD_IGNORED;
	return err;
}

static void put_peak_of_tree(struct rt_command *c, const struct rt_metrics *m, struct rt_outcome *out)
{
	struct rt_tracker *t = c->tracker;

	if (rti_cgroup_read_memory_peak(&t->tree.cgroup, &t->ctx, &out->peak_tree_bytes) == 0) {
		out->peak_tree_kind = RT_PEAK_CGROUP;
	} else if (m->peak_tree_rss_bytes < m->peak_rss_bytes) {
		/* Samples missed the peak: the tree held at least what its largest process held. */
		out->peak_tree_bytes = m->peak_rss_bytes;
		out->peak_tree_kind = RT_PEAK_RSS;
	} else if (m->valid & RT_HAS_PSS && m->peak_tree_pss_bytes) {
		out->peak_tree_bytes = m->peak_tree_pss_bytes;
		out->peak_tree_kind = RT_PEAK_PSS;
	} else if (m->peak_tree_rss_bytes) {
		out->peak_tree_bytes = m->peak_tree_rss_bytes;
		out->peak_tree_kind = RT_PEAK_RSS;
	}
}

/* The program ran in our cgroup, along with others: it cannot have used more than all of them. UINT64_MAX: unknown. */
static uint64_t growth_of_enclosing(struct rt_command *c)
{
	uint64_t end_ns = enclosing_cpu_ns(c, &c->tracker->ctx);

	rti_source_close_file(c->tracker->ctx.source, &c->enclosing.cpu);
	if (c->enclosing_ns == UINT64_MAX || end_ns == UINT64_MAX || end_ns < c->enclosing_ns)
		return UINT64_MAX;
	return end_ns - c->enclosing_ns;
}

/* Without a cgroup of its own, what nobody waited for may have been missed without a trace, unless there is no room for it
 * between what is known and what the enclosing cgroup used. The margins are for the root's figures, which are sampled at
 * ticks. */
static void put_bracket(struct rt_command *c, uint64_t overhead_ns, struct rt_outcome *out)
{
	uint64_t growth_ns = growth_of_enclosing(c), low_ns = out->cpu_low_ns;

	if (growth_ns == UINT64_MAX || growth_ns > low_ns + low_ns / 100 + overhead_ns + UNVERIFIED_NS)
		out->reasons |= RT_REASON_UNVERIFIED;
	out->cpu_high_ns = UINT64_MAX;
	if (growth_ns != UINT64_MAX)
		out->cpu_high_ns = growth_ns + growth_ns / 50 + 2 * UNVERIFIED_NS;
	if (out->cpu_high_ns < low_ns)
		out->cpu_high_ns = low_ns;
}

/* What is missing from the accounts of members is in the account of their cgroup, as far as CPU time goes. */
static void put_completeness(struct rt_command *c, const struct rt_metrics *m, uint64_t overhead_ns,
                             struct rt_outcome *out)
{
	uint64_t told_by_members = RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_PEAK_RSS;
	int is_known_by_cgroup = c->accounting == RT_ACCOUNTING_CGROUP && c->tracker->tree.ledger.is_claimed;

	if (out->reasons) {
		out->partial |= out->valid & told_by_members;
		out->valid &= ~told_by_members;
	}
	if (is_known_by_cgroup)
		out->reasons = 0;
	if (m->processes)
		out->reasons |= RT_REASON_LEFT_RUNNING;
	out->cpu_low_ns = m->cpu_user_ns + m->cpu_system_ns;
	out->cpu_high_ns = out->cpu_low_ns;
	if (!is_known_by_cgroup)
		put_bracket(c, overhead_ns, out);
	else if (m->processes)
		out->cpu_high_ns = UINT64_MAX; /* they go on */
	out->complete = out->reasons == 0;
	/* Nothing known to be missing is no lower bound yet: the bracket tells what cannot be ruled out. */
	if (out->reasons & ~(uint32_t)RT_REASON_UNVERIFIED) {
		out->partial |= out->valid & RT_HAS_CPU;
		out->valid &= ~RT_HAS_CPU;
	}
}

static void put_figures(const struct rt_command *c, const struct rt_metrics *m, struct rt_outcome *out)
{
	/* Processes that came and went between two samples are in the figures, but were not counted. */
	out->valid = m->valid & ~RT_HAS_PROCESSES;
	out->partial = m->partial | RT_HAS_PROCESSES;
	out->rusage = m->rusage;
	out->cpu_user_ns = m->cpu_user_ns;
	out->cpu_system_ns = m->cpu_system_ns;
	out->peak_rss_bytes = m->peak_rss_bytes;
	out->left_running = (uint32_t)m->processes;
	out->read_bytes = m->read_bytes;
	out->write_bytes = m->write_bytes;
	out->processes = m->processes_seen;
	out->samples = c->tracker->samples;
}

static int finish(struct rt_command *c)
{
	const struct rti_env *env = &c->tracker->env;
	uint64_t started_ns = env->thread_cpu_ns(), sampling_ns = c->tracker->self_cpu_ns;
	struct rt_outcome *out = &c->outcome;
	struct rt_metrics metrics;
	struct rti_now end;
	int status = 0, err;

	env->now(&end);
	if (c->supervised.exited.kind)
		end.monotonic_ns = c->supervised.exited.monotonic_ns;
	*out = (struct rt_outcome){
		.size = sizeof(*out),
		.exit_code = -1,
		.accounting = c->accounting,
		.start_realtime_ns = c->start.realtime_ns,
		.wall_ns = end.monotonic_ns - c->start.monotonic_ns,
	};
	err = is_supervised(c) ? finish_supervised(c, &metrics, &status) : finish_child(c, &metrics, &status);
	if (err < 0)
		out->reasons |= RT_REASON_UNWAITED;
	if (err == 0 && WIFEXITED(status))
		out->exit_code = WEXITSTATUS(status);
	if (err == 0 && WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
	put_figures(c, &metrics, out);
	put_peak_of_tree(c, &metrics, out);
	sampling_ns = c->tracker->self_cpu_ns - sampling_ns;
	c->overhead_ns += env->thread_cpu_ns() - started_ns - sampling_ns;
	out->overhead_cpu_ns = c->overhead_ns + c->tracker->self_cpu_ns + c->tracker->tree.keeper_cpu_ns;
	put_completeness(c, &metrics, out->overhead_cpu_ns, out);
	c->is_over = 1;
	return err;
}

int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out, size_t out_size)
{
	int err;

	if (!c)
		return -EFAULT;
	if (out && rti_abi_check_out(out_size, RTI_OUTCOME_V1) < 0)
		return -EINVAL;
	if (!c->is_over) {
		err = is_supervised(c) ? rti_supervise_wait(&c->supervised, timeout_ns) : wait_for_exit(c, timeout_ns);
		if (err == -ECHILD && is_supervised(c)) /* the supervisor is gone: the program need not be */
			err = wait_for_exit(c, timeout_ns);
		if (err == -ETIMEDOUT || err == -EINTR)
			return err;
		c->result = finish(c);
	}
	if (out)
		rti_abi_put(out, out_size, &c->outcome, sizeof(c->outcome));
	return c->result;
}

void rt_command_free(struct rt_command *c)
{
	if (!c)
		return;
	if (is_supervised(c))
		rti_supervise_close(&c->supervised);
	rt_tracker_free(c->tracker);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}
