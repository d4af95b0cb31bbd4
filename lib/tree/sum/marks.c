/* SPDX-License-Identifier: MIT */
/* Which figures of a sample of a tree are complete, which are lower bounds, and why. */
#include "tree/sum/marks.h"

#include "collect/pid_stat.h"
#include "os/cpu_time.h"
#include "os/protocol/supervisor_protocol.h"
#include "tree/scan/kernel_account.h"

/* No process is left, and the supervisor's final account is not older than its last reap. */
static bool is_reaped_to_the_last(const struct rti_sums *sums)
{
	return sums->is_final_account_current && sums->figures.processes == 0;
}

/* Children of a process that ignores SIGCHLD are in no account, and leave no trace unless a sample
 * saw them. Nor do process events say what they used. At the end they can prove that there was
 * none. */
static bool may_lack_auto_reaped(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	bool is_disproved =
	    shared && shared->unproven_ns == 0 && is_reaped_to_the_last(&tree->sums);

	return tree->reasons & RT_REASON_SIGCHLD_IGNORED && !tree->ledger.self_only &&
	       !is_disproved;
}

/* Only the process that waits for a process learns its context switches. Of what the supervisor has
 * reaped, its final account has them. */
static bool knows_all_switches(const struct rti_ledger *ledger, const struct rti_sums *sums)
{
	if (ledger->self_only)
		return !ledger->has_exits;
	if (sums->has_reaped_faults)
		return false;
	return sums->is_final_account_current ? !ledger->has_unwaited : !ledger->has_exits;
}

/* Whether the count of all processes has every fork up to this sample. The supervisor's count lags
 * behind its events until it has read the last of them. */
static bool counts_every_fork(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	bool is_whole;

	if (tree->ledger.self_only)
		return true;
	if (tree->kernel_account.is_of_command) {
		rti_kernel_account_processes(&tree->kernel_account, &is_whole);
		return is_whole;
	}
	if (!shared)
		return rti_fork_tracker_is_complete(&tree->discovery.fork_tracker);
	return shared->events == RTI_EVENTS_INTACT && is_reaped_to_the_last(&tree->sums);
}

static void make_partial(struct rt_metrics *out, uint64_t domains)
{
	out->partial |= out->valid & domains;
	out->valid &= ~domains;
}

/* Then orphans are reaped by a process that is no member, and no scan finds them. */
static bool has_lost_supervisor(const struct rti_member_table *table,
                                const struct rti_supervised_state *supervised)
{
	struct rti_member *supervisor = rti_member_find(table, supervised->pid);

	return supervised->pid && (!supervisor || rti_pid_stat_is_zombie(&supervisor->stat));
}

/* If something is known to be missing, or may leave no trace, the sums are lower bounds. */
static void mark_losses(const struct rti_tree *tree, struct rt_metrics *out)
{
	const uint64_t counters = tree->domains.counters;

	if (tree->discovery.has_skipped || tree->reused_pids.is_lacking)
		make_partial(out, UINT64_MAX);
	if (tree->reasons & (RT_REASON_UNWAITED | RT_REASON_MEMBERS_SKIPPED) ||
	    may_lack_auto_reaped(tree))
		make_partial(out, counters);
	if (tree->ledger.is_account_reset)
		make_partial(out, RT_HAS_CPU);
	make_partial(out, tree->obstacles.lost.met);
	if (!counts_every_fork(tree))
		make_partial(out, RT_HAS_PROCESSES_SEEN);
	if (tree->want & RT_HAS_CTXSW && !knows_all_switches(&tree->ledger, &tree->sums))
		make_partial(out, RT_HAS_CTXSW);
}

/* No sample may have seen the peak of a process that has exited, nor the process itself. Only the
 * process that waits for it learns its peak, which may be hidden by an inherited one. E.g.: true(1)
 * has 1 MiB, a sample saw 4 KiB of it, and it inherited 1.1 MiB.
 * A zombie has no memory any more, and may have had more than at its last read. So may a process
 * that was not waited for, or was skipped. */
static void mark_peaks(const struct rti_tree *tree, struct rt_metrics *out)
{
	bool knows_exited =
	    !tree->ledger.has_exits || (tree->sums.is_final_account_current &&
	                                tree->peak_rss_bytes >= tree->supervised.final_peak_bytes);

	if (!knows_exited || tree->sums.has_zombie || tree->sums.has_reaped ||
	    tree->reasons & (RT_REASON_UNWAITED | RT_REASON_MEMBERS_SKIPPED) ||
	    may_lack_auto_reaped(tree))
		make_partial(out, RT_HAS_PEAK_RSS);
	if (tree->peak_rss_bytes == 0) { /* no sample saw any member alive */
		out->valid &= ~RT_HAS_PEAK_RSS;
		out->partial &= ~RT_HAS_PEAK_RSS;
	}
}

/* Whether the supervisor has reaped all processes that were counted: each one has page faults. Then
 * wait4(2) has the largest peak, also of processes that the programs had no row for. */
static bool has_reaped_counted(const struct rti_tree *tree)
{
	const struct rti_supervised_state *s = &tree->supervised;
	const struct rti_tree_counted *counted = &tree->kernel_account.counted;

	return s->has_final_rusage && counted->has_ended &&
	       s->final_rusage[RTI_MINOR_FAULTS] == counted->counters[RTI_MINOR_FAULTS] &&
	       s->final_rusage[RTI_MAJOR_FAULTS] == counted->counters[RTI_MAJOR_FAULTS] &&
	       tree->peak_rss_bytes >= s->final_peak_bytes;
}

/* BPF programs have counted every thread, whatever members could be read and waited for. */
static void mark_counted(const struct rti_tree *tree, struct rt_metrics *out)
{
	const struct rti_kernel_account *account = &tree->kernel_account;
	const struct rti_tree_counted *counted = &account->counted;
	uint64_t whole = tree->domains.counters;
	bool has_all_running;

	if (!account->has_counted)
		return;
	if (counted->is_behind) {
		make_partial(out, tree->domains.counters);
		whole = 0;
	}
	if (!counted->has_io)
		whole &= ~(uint64_t)(RT_HAS_IO | RT_HAS_IO_CALLS);
	if (!counted->has_switches) {
		make_partial(out, RT_HAS_CTXSW);
		whole &= ~(uint64_t)RT_HAS_CTXSW;
	}
	/* A process is counted when it is forked, unless there was no mark for it. */
	if (!account->has_lost)
		whole |= RT_HAS_PROCESSES_SEEN;
	else
		make_partial(out, RT_HAS_PROCESSES_SEEN);
	/* No process that runs is known to be missing from the members. */
	has_all_running = tree->sums.figures.valid & RT_HAS_PEAK_RSS &&
	                  !tree->discovery.has_skipped && !tree->reused_pids.is_lacking &&
	                  !has_lost_supervisor(&tree->table, &tree->supervised);
	if (counted->has_peaks && !counted->is_behind && (counted->has_ended || has_all_running))
		whole |= RT_HAS_PEAK_RSS;
	/* No sample may have seen a process without a peak in the programs' rows. E.g.: 9000
	 * processes run, and one that comes then uses most memory. */
	if (counted->is_behind || (counted->lacks_peaks && !has_reaped_counted(tree)))
		make_partial(out, RT_HAS_PEAK_RSS);
	out->valid |= whole & tree->want;
	out->partial &= ~whole;
}

/* Each time that was read in clock ticks lacks up to one. E.g.: 100 shells that each ran a program
 * of 9 ms show nothing of it. A complete figure may lack a hundredth of the total. */
static bool may_ticks_hide(const struct rti_sums *sums, const struct rti_context *ctx,
                           const struct rt_metrics *out)
{
	uint64_t total_ns = out->cpu_user_ns + out->cpu_system_ns;

	return sums->times_in_ticks * ctx->platform->tick_ns > total_ns / 100;
}

static bool is_counted_whole(const struct rti_kernel_account *account)
{
	return account->has_counted && !account->counted.is_behind;
}

/* Another account may have CPU time that is not in ticks. */
static uint32_t reasons_of(const struct rti_tree *tree, const struct rt_metrics *out)
{
	uint32_t reasons = tree->reasons;

	if (is_counted_whole(&tree->kernel_account))
		return 0;
	if (!may_lack_auto_reaped(tree))
		reasons &= ~RT_REASON_SIGCHLD_IGNORED;
	if (out->partial & RT_HAS_CPU && may_ticks_hide(&tree->sums, tree->ctx, out))
		reasons |= RT_REASON_CLOCK_TICKS;
	return reasons;
}

/* Of what a process has reaped, the kernel says the CPU time in clock ticks, and to the process
 * itself in microseconds. */
static uint64_t cpu_resolution_ns(const struct rti_tree *tree)
{
	const struct rti_platform *platform = tree->ctx->platform;

	if (is_counted_whole(&tree->kernel_account))
		return 1;
	if (tree->ledger.is_covered_by_cgroup)
		return RTI_US_NS;
	if (tree->sums.times_in_ticks || !platform->cpu_clock)
		return platform->tick_ns;
	return tree->sums.is_in_us || tree->is_kept_in_us || tree->supervised.has_final_rusage
	           ? RTI_US_NS
	           : 1;
}

/* What the times in ticks of live members lack: it shows once a member reaps more, or is reaped. */
static uint64_t cpu_late_ns(const struct rti_tree *tree)
{
	if (is_counted_whole(&tree->kernel_account) || tree->ledger.is_covered_by_cgroup)
		return 0;
	return rti_subtract_saturated(tree->sums.times_in_ticks, tree->kept_in_ticks) *
	       tree->ctx->platform->tick_ns;
}

/* A command has a supervisor, or its outcome says what may be missing. A cgroup has an account. */
static bool is_attached(const struct rti_tree *tree)
{
	return !tree->list && !tree->is_of_command;
}

/* Whether processes that came and went between two samples may be in no account. Events prove that
 * they were waited for, unless their parents ended with them. */
static bool may_lack_unseen(const struct rti_tree *tree, const struct rt_metrics *out)
{
	const struct rti_fork_tracker *events = &tree->discovery.fork_tracker;

	if (tree->ledger.self_only || tree->kernel_account.programs)
		return false;
	if (!rti_fork_tracker_is_complete(events))
		return tree->has_forked || rti_fork_tracker_processes(events) > 1;
	return rti_fork_tracker_unproven_ns(events) >
	       (out->cpu_user_ns + out->cpu_system_ns) / 1000;
}

/* The kernel does not account for a thread's last moments: half a percent of a 10 ms thread may be
 * missing. Without the threads' own clocks it is not known what those that have ended had used. */
static bool may_lack_ends_of_threads(const struct rti_tree *tree, const struct rt_metrics *out)
{
	if (tree->kernel_account.programs)
		return false;
	if (!(tree->want & RT_HAS_CTXSW))
		return tree->has_threads;
	return tree->sums.ended_run_ns > (out->cpu_user_ns + out->cpu_system_ns) / 50;
}

/* Whether the accounts of members have all that the tree has ever used. What a process has used
 * that ended before is in the account of a member that waited for it. An orphan may be in no
 * account, but then the child that forked it is in one. Children of a process with SA_NOCLDWAIT are
 * in none, and nothing shows it: if that counted, no process would have a known past. */
static bool is_past_known(const struct rti_tree *tree)
{
	if (tree->ledger.self_only)
		return true;
	if (tree->sums.has_zombie || tree->reasons & RT_REASON_SIGCHLD_IGNORED)
		return false;
	for (size_t i = 0; i < tree->table.count; i++)
		if (rti_ledger_has_reaped(&tree->table.members[i].account))
			return false;
	return true;
}

/* When the first member started, by the wall clock; 0: unknown. */
static uint64_t start_of_first(const struct rti_tree *tree)
{
	uint64_t ticks = UINT64_MAX;
	struct rti_now now;

	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_pid_stat *stat = &tree->table.members[i].stat;

		if (!stat->has_starttime)
			return 0;
		ticks = rti_min(ticks, stat->starttime);
	}
	if (tree->table.count == 0)
		return 0;
	tree->ctx->platform->now(&now);
	return now.realtime_ns - now.boottime_ns + ticks * tree->ctx->platform->tick_ns;
}

static void look_at_past(struct rti_tree *tree)
{
	struct rti_past *past = &tree->past;
	struct rti_now now;

	if (past->was_looked_at)
		return;
	past->was_looked_at = true;
	past->is_known = is_past_known(tree);
	tree->ctx->platform->now(&now);
	past->start_realtime_ns = past->is_known ? start_of_first(tree) : now.realtime_ns;
}

/* What unseen processes used, and what was used in the past, never turns up later. */
static void mark_unknown(struct rti_tree *tree, struct rt_metrics *out)
{
	const uint64_t counters = tree->domains.counters;

	if (!is_attached(tree))
		return;
	look_at_past(tree);
	if (may_lack_ends_of_threads(tree, out)) {
		out->since_partial = out->valid & RT_HAS_CPU;
		make_partial(out, RT_HAS_CPU);
	}
	if (may_lack_unseen(tree, out)) {
		out->since_partial |= out->valid & counters;
		make_partial(out, counters | RT_HAS_PEAK_RSS);
		out->reasons |= RT_REASON_ORPHANS_UNSEEN;
	}
	if (!tree->past.is_known) {
		out->since_valid = out->valid & counters;
		make_partial(out, counters);
		out->reasons |= RT_REASON_PAST_UNKNOWN;
	}
}

void rti_marks_set(struct rti_tree *tree, struct rt_metrics *out)
{
	const struct rti_fork_tracker *fork_tracker = &tree->discovery.fork_tracker;

	/* Reasons stay for all later samples. */
	if (fork_tracker->has_lost_events)
		tree->reasons |= RT_REASON_EVENTS_LOST;
	if (fork_tracker->has_unwaited_exit || has_lost_supervisor(&tree->table, &tree->supervised))
		tree->reasons |= RT_REASON_UNWAITED;
	if (tree->discovery.has_skipped)
		tree->reasons |= RT_REASON_MEMBERS_SKIPPED;
	if (tree->ledger.is_account_reset)
		tree->reasons |= RT_REASON_ACCOUNT_RESET;

	mark_losses(tree, out);
	if (may_ticks_hide(&tree->sums, tree->ctx, out))
		make_partial(out, RT_HAS_CPU);
	mark_peaks(tree, out);
	/* The cgroup's CPU time is complete, whatever members could be read. */
	if (tree->ledger.is_covered_by_cgroup) {
		out->valid |= RT_HAS_CPU;
		out->partial &= ~RT_HAS_CPU;
	}
	mark_counted(tree, out);
	if (tree->served_reads.is_seen)
		make_partial(out, RT_HAS_IO);
	out->reasons = reasons_of(tree, out);
	mark_unknown(tree, out);
	out->account_start_realtime_ns = tree->past.start_realtime_ns;
	/* A domain is complete, an estimate or a lower bound: one of the three. */
	out->estimated &= tree->want & ~out->valid;
	out->partial &= tree->want & ~out->valid & ~out->estimated;
	out->cpu_resolution_ns = cpu_resolution_ns(tree);
	out->cpu_late_ns = tree->want & RT_HAS_CPU ? cpu_late_ns(tree) : 0;
}
