/* SPDX-License-Identifier: MIT */
/* The end of a command: last samples, and what they say together with those who waited for the
 * program. */
#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>

#include <rtrack/rtrack.h>

#include "api/rusage.h"
#include "command/cpu_bounds.h"
#include "command/handle.h"
#include "os/cpu_time.h"
#include "tree/memory_peak.h"

/* Final figures of a child of our own: it can be read as long as nobody has reaped it. */
static int finish_child(struct rt_command *c, struct rt_metrics *m, int *status)
{
	struct rt_rusage use;
	struct rusage records;
	pid_t got;
	int err;

	rt_sample(c->tracker, m, sizeof(*m));
	do {
		got = wait4(c->pid, status, 0, &records);
	} while (got < 0 && errno == EINTR);
	err = got < 0 ? -errno : 0;
	if (err == 0) {
		rti_rusage_from_kernel(&records, &use);
		rti_tree_account_root_exit(&c->tracker->tree, &c->tracker->ctx, c->pid, &use);
	}
	rt_sample(c->tracker, m, sizeof(*m));
	c->outcome.reasons = m->reasons;
	if (!c->tracker->tree.ledger.self_only && !rti_tree_sees_every_fork(&c->tracker->tree))
		c->outcome.reasons |= RT_REASON_ORPHANS_UNSEEN;
	return err;
}

/* It may have many to reap before it answers. Only who does nothing at all meanwhile has been
 * stopped: it is asked to go on, and given up where it cannot. */
static int receive_account(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	struct rti_cpu_clock before = { 0 }, now = { 0 };
	bool has_woken = false;
	int err;

	rti_supervisor_request_account(&c->supervisor);
	platform->cpu_clock(c->supervisor.supervisor_pid, &now);
	while ((err = rti_supervisor_receive_account(&c->supervisor)) == -ETIMEDOUT) {
		before = now;
		platform->cpu_clock(c->supervisor.supervisor_pid, &now);
		if (now.total_ns != before.total_ns)
			continue;
		if (has_woken)
			break;
		has_woken = true;
		rti_supervisor_continue(&c->supervisor);
	}
	return err;
}

static void apply_account(struct rt_command *c)
{
	const struct rti_supervisor *s = &c->supervisor;
	struct rt_rusage reaped;

	c->is_supervisor_lost = !s->exited.kind || receive_account(c) < 0;
	if (c->is_supervisor_lost)
		return;
	rti_rusage_from_kernel(&s->accounted.reaped, &reaped);
	rti_tree_apply_final_rusage(&c->tracker->tree, &reaped, s->started.inherited_maxrss_kib);
}

/* The supervisor has reaped the program: its own account of that is the kernel's, to the
 * microsecond. What it adopts it may be reaping still, so whoever was there at the first look is
 * looked at once more. */
static int finish_supervised(struct rt_command *c, struct rt_metrics *m, int *status)
{
	const struct rti_supervisor *s = &c->supervisor;

	for (int looks = 0; looks < 2; looks++) {
		apply_account(c);
		if (rt_sample(c->tracker, m, sizeof(*m)) == -ESRCH || c->is_supervisor_lost)
			break;
	}
	*status = s->exited.status;
	c->outcome.reasons = m->reasons;
	if (s->accounted.ignored_sigchld)
		c->outcome.reasons |= RT_REASON_SIGCHLD_IGNORED;
	if (c->is_supervisor_lost)
		c->outcome.reasons |= RT_REASON_UNWAITED;
	return s->exited.kind ? 0 : -ECHILD;
}

static void set_exit(struct rt_outcome *out, int status)
{
	if (WIFEXITED(status))
		out->exit_code = WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
}

static void set_figures(const struct rt_command *c, const struct rt_metrics *m,
                        struct rt_outcome *out)
{
	out->valid = m->valid & ~RT_HAS_PROCESSES;
	out->partial = m->partial | RT_HAS_PROCESSES;
	out->rusage = m->rusage;
	out->cpu_user_ns = m->cpu_user_ns;
	out->cpu_system_ns = m->cpu_system_ns;
	out->peak_rss_bytes = m->peak_rss_bytes;
	out->left_running = (uint32_t)rti_tree_count_running(&c->tracker->tree);
	out->read_bytes = m->read_bytes;
	out->write_bytes = m->write_bytes;
	out->processes = m->processes_seen;
	out->members_skipped = c->tracker->tree.most_skipped;
	out->samples = c->tracker->samples;
}

/* Without process events, those who came and went between two samples are in the figures, but
 * were not counted. */
static void set_processes(const struct rt_command *c, struct rt_outcome *out)
{
	if (!rti_tree_sees_every_fork(&c->tracker->tree) ||
	    c->tracker->tree.table.fork_tracker.has_other_child)
		return;
	out->valid |= RT_HAS_PROCESSES;
	out->partial &= ~RT_HAS_PROCESSES;
	/* Who runs without his first thread was taken for dead. */
	if (!c->tracker->tree.shared || c->tracker->tree.shared->has_leader_exit)
		return;
	out->valid |= RT_HAS_PROCESSES_PEAK;
	out->processes_peak = rti_tree_most_alive(&c->tracker->tree);
}

/* The largest sum that was seen. Where RSS was summed more often than PSS, a peak of the one may
 * have been missed by the other. */
static void set_tree_peak(struct rt_command *c, const struct rt_metrics *m, struct rt_outcome *out)
{
	const struct rti_tree *tree = &c->tracker->tree;

	out->peak_tree_high_bytes = UINT64_MAX;
	if (rti_cgroup_read_number(&c->tracker->tree.cgroup, &c->tracker->ctx, "/memory.peak",
	                           &out->cgroup_memory_peak_bytes) == 0) {
		out->valid |= RT_HAS_CGROUP_MEMORY;
		out->peak_tree_kind = RT_PEAK_CGROUP;
		out->peak_tree_bytes = out->peak_tree_high_bytes = out->cgroup_memory_peak_bytes;
	} else if (m->peak_tree_rss_bytes < m->peak_rss_bytes) {
		/* Samples missed the peak: the tree held at least what its largest process held. */
		out->peak_tree_bytes = m->peak_rss_bytes;
		out->peak_tree_kind = RT_PEAK_RSS;
	} else if (m->valid & RT_HAS_PSS && m->peak_tree_pss_bytes &&
	           rti_memory_peak_has_pss(tree)) {
		out->peak_tree_bytes = m->peak_tree_pss_bytes;
		out->peak_tree_kind = RT_PEAK_PSS;
	} else if (m->peak_tree_rss_bytes) {
		out->peak_tree_bytes = m->peak_tree_rss_bytes;
		out->peak_tree_kind = RT_PEAK_RSS;
	}
}

/* Nobody held more than the largest did, and no more than so many were there at a time. That the
 * largest is known takes somebody who waited for everyone. */
static void set_peak_bounds(const struct rt_metrics *m, struct rt_outcome *out)
{
	out->peak_tree_low_bytes = m->peak_rss_bytes;
	if (out->peak_tree_kind != RT_PEAK_RSS && out->peak_tree_bytes > out->peak_tree_low_bytes)
		out->peak_tree_low_bytes = out->peak_tree_bytes;
	if (out->peak_tree_kind == RT_PEAK_CGROUP || !(out->valid & RT_HAS_PROCESSES_PEAK) ||
	    !(out->valid & RT_HAS_PEAK_RSS) || out->reasons & ~(uint32_t)RT_REASON_LEFT_RUNNING)
		return;
	out->peak_tree_high_bytes = out->peak_rss_bytes * out->processes_peak;
	if (out->peak_tree_high_bytes < out->peak_tree_bytes)
		out->peak_tree_high_bytes = out->peak_tree_bytes;
}

static void set_cgroup(struct rt_command *c, struct rt_outcome *out)
{
	struct rti_cgroup *group = &c->tracker->tree.cgroup;
	const struct rti_context *ctx = &c->tracker->ctx;

	if (rti_cgroup_read_number(group, ctx, "/pids.peak", &out->cgroup_tasks_peak) == 0)
		out->valid |= RT_HAS_CGROUP_TASKS;
	if (rti_cgroup_read_io(group, ctx, &out->cgroup_read_bytes, &out->cgroup_write_bytes) == 0)
		out->valid |= RT_HAS_CGROUP_IO;
}

enum comparison { BELOW, EQUAL, ABOVE };

/* Whether the inherited clock shows more than what was waited for, or as much within what both
 * may be off by. */
static enum comparison compare_clock(uint64_t clock_ns, uint64_t low_ns)
{
	uint64_t noise_ns = low_ns / 100 + RTI_TICK_MAX_NS;

	if (clock_ns > low_ns + noise_ns)
		return ABOVE;
	return clock_ns + noise_ns < low_ns ? BELOW : EQUAL;
}

/* They agree, so that what both may have missed is within what they may differ by. */
static void bound_by_clock(uint64_t clock_ns, struct rt_outcome *out)
{
	uint64_t larger_ns = clock_ns > out->cpu_low_ns ? clock_ns : out->cpu_low_ns;
	uint64_t high_ns = larger_ns + larger_ns / 100 + RTI_TICK_MAX_NS;

	if (out->reasons == 0 && high_ns < out->cpu_high_ns)
		out->cpu_high_ns = high_ns;
}

static void set_cpu_estimate(const struct rt_command *c, struct rt_outcome *out)
{
	uint64_t clock_ns = c->supervisor.accounted.clock_ns;
	enum comparison comparison;

	out->cpu_estimate_ns = out->cpu_low_ns;
	if (c->accounting != RT_ACCOUNTING_WAIT_PERF || clock_ns == 0)
		return;
	comparison = compare_clock(clock_ns, out->cpu_low_ns);
	if (comparison == ABOVE)
		out->reasons |= RT_REASON_CLOCK_ABOVE;
	if (comparison == EQUAL) {
		out->reasons &= ~(uint32_t)RT_REASON_UNVERIFIED;
		bound_by_clock(clock_ns, out);
	}
	if (clock_ns > out->cpu_estimate_ns)
		out->cpu_estimate_ns = clock_ns;
	if (out->cpu_estimate_ns > out->cpu_high_ns)
		out->cpu_estimate_ns = out->cpu_high_ns;
}

/* What nobody waited for may have been missed without a trace, unless there is no room for it
 * between what is known and what the enclosing cgroup used. */
static void set_cpu_bounds(struct rt_command *c, const struct rt_metrics *m,
                           bool is_covered_by_cgroup, struct rt_outcome *out)
{
	const struct rti_context *ctx = &c->tracker->ctx;
	struct rti_cpu_bounds_known known = {
		.low_ns = m->cpu_user_ns + m->cpu_system_ns,
		.growth_ns = rti_cpu_bounds_growth(c->enclosing_ns,
		                                   rti_cgroup_read_usage(&c->enclosing, ctx)),
		.overhead_ns = out->overhead_cpu_ns,
		.lag_ns = ctx->platform->cpu_count() * RTI_TICK_MAX_NS,
		.is_covered_by_cgroup = is_covered_by_cgroup,
		.is_running = out->left_running > 0,
	};
	struct rti_cpu_bounds bounds;

	if (c->supervisor.accounted.left_cgroup) /* then neither cgroup holds them all */
		known.growth_ns = UINT64_MAX;
	bounds = rti_cpu_bounds(&known);
	out->cpu_low_ns = bounds.low_ns;
	out->cpu_high_ns = bounds.high_ns;
	if (bounds.is_unverified)
		out->reasons |= RT_REASON_UNVERIFIED;
}

/* What is missing from the accounts of members is in the account of their cgroup, as far as CPU
 * time goes. */
static void set_completeness(struct rt_command *c, const struct rt_metrics *m,
                             struct rt_outcome *out)
{
	uint64_t told_by_members = RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_PEAK_RSS;
	bool is_covered_by_cgroup = c->accounting == RT_ACCOUNTING_CGROUP &&
	                            c->tracker->tree.ledger.is_covered_by_cgroup &&
	                            !c->supervisor.accounted.left_cgroup &&
	                            /* whoever killed the supervisor may have moved others, too */
	                            !c->is_supervisor_lost;

	/* Who forks and ends all the time may be missed by every sample. */
	if (!out->left_running &&
	    rti_cgroup_is_populated(&c->tracker->tree.cgroup, &c->tracker->ctx))
		out->left_running = 1;
	if (out->reasons) {
		out->partial |= out->valid & told_by_members;
		out->valid &= ~told_by_members;
	}
	set_peak_bounds(m, out);
	if (is_covered_by_cgroup)
		out->reasons = 0;
	if (out->left_running)
		out->reasons |= RT_REASON_LEFT_RUNNING;
	set_cpu_bounds(c, m, is_covered_by_cgroup, out);
	set_cpu_estimate(c, out);
	out->complete = out->reasons == 0;
	/* Nothing known to be missing is no lower bound yet: the bracket tells what cannot be
	 * ruled out. */
	if (out->reasons & ~(uint32_t)RT_REASON_UNVERIFIED) {
		out->partial |= out->valid & RT_HAS_CPU;
		out->valid &= ~RT_HAS_CPU;
	}
}

/* At the rung poll nobody but us has seen how the program ended. */
static void set_exit_of_child(struct rt_command *c, const struct rti_now *end)
{
	for (size_t i = 0; i < c->process_list.count && !rti_command_is_supervised(c); i++) {
		struct rt_command_process *row = &c->process_list.rows[i];

		if (row->pid != c->pid || row->flags & RT_PROCESS_RUNNING)
			continue;
		row->exit_code = c->outcome.exit_code;
		row->signal = c->outcome.signal;
		row->end_realtime_ns = end->realtime_ns;
	}
}

static void list_processes(struct rt_command *c, const struct rti_now *end)
{
	const struct rti_member_table *table = &c->tracker->tree.table;
	size_t count;
	const struct rti_process_record *records =
	    rti_supervisor_map_records(&c->supervisor, &count);

	for (size_t i = 0; i < table->count; i++) {
		if (table->members[i].pid != c->tracker->tree.supervisor_pid)
			rti_process_list_add_member(&c->process_list, &table->members[i],
			                            !rti_member_is_zombie(&table->members[i]));
	}
	if (c->supervisor.shared && c->supervisor.shared->records_skipped)
		c->process_list.is_short = true;
	if (records)
		rti_process_list_add_records(&c->process_list, records, count, end);
	rti_supervisor_unmap_records(records, count);
	rti_process_list_finish(&c->process_list, end);
	set_exit_of_child(c, end);
}

/* What the last sample says, with all that is known besides. */
static void fill_outcome(struct rt_command *c, const struct rt_metrics *m)
{
	struct rt_outcome *out = &c->outcome;

	set_figures(c, m, out);
	if (!c->is_supervisor_lost) /* who has gone, or does not answer, has not heard all */
		set_processes(c, out);
	set_tree_peak(c, m, out);
	set_cgroup(c, out);
	out->overhead_cpu_ns =
	    c->overhead_ns + c->tracker->self_cpu_ns + c->tracker->tree.supervisor_cpu_ns;
	set_completeness(c, m, out);
}

int rti_command_finish(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	uint64_t started_ns = platform->thread_cpu_ns(), sampling_ns = c->tracker->self_cpu_ns;
	struct rt_outcome *out = &c->outcome;
	struct rt_metrics metrics;
	struct rti_now end;
	int status = 0, err;

	c->tracker->tree.is_final = true;
	platform->now(&end);
	*out = (struct rt_outcome){
		.size = sizeof(*out),
		.exit_code = -1,
		.accounting = c->accounting,
		.start_realtime_ns = c->start.realtime_ns,
		.wall_ns = (c->supervisor.exited.kind ? c->supervisor.exited.monotonic_ns
		                                      : end.monotonic_ns) -
		           c->start.monotonic_ns,
	};
	err = rti_command_is_supervised(c) ? finish_supervised(c, &metrics, &status)
	                                   : finish_child(c, &metrics, &status);
	if (err < 0)
		out->reasons |= RT_REASON_UNWAITED;
	else
		set_exit(out, status);
	if (c->has_list)
		list_processes(c, &end);
	sampling_ns = c->tracker->self_cpu_ns - sampling_ns;
	c->overhead_ns += platform->thread_cpu_ns() - started_ns - sampling_ns;
	c->lost_reasons = out->reasons;
	fill_outcome(c, &metrics);
	c->is_over = 1;
	return err;
}

/* Rows of those who have ended since the list was made. */
static void update_list(struct rt_command *c)
{
	for (size_t i = 0; i < c->process_list.count; i++) {
		struct rt_command_process *row = &c->process_list.rows[i];
		const struct rti_member *m = rti_member_find(&c->tracker->tree.table, row->pid);

		if (row->flags & RT_PROCESS_RUNNING && (!m || rti_member_is_zombie(m)))
			row->flags &= ~(uint32_t)RT_PROCESS_RUNNING;
	}
}

void rti_command_finish_again(struct rt_command *c)
{
	struct rt_metrics metrics;

	if (rti_command_is_supervised(c))
		apply_account(c);
	rt_sample(c->tracker, &metrics, sizeof(metrics));
	c->outcome.reasons = c->lost_reasons | metrics.reasons;
	fill_outcome(c, &metrics);
	update_list(c);
}
