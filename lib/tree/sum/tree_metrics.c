/* SPDX-License-Identifier: MIT */
/* Summing up the members of a tree into the figures of a sample. */
#include "tree/sum/tree_metrics.h"

#include <string.h>

#include "collect/pid_stat.h"
#include "os/protocol/supervisor_protocol.h"
#include "tree/exits/exit_accounting.h"
#include "tree/gpu/gpu.h"
#include "tree/memory/memory_peak.h"
#include "tree/read/memory_figures.h"
#include "tree/read/served_reads.h"
#include "tree/scan/kernel_account.h"
#include "tree/state/obstacles.h"
#include "tree/sum/marks.h"
#include "tree/watch/watched.h"

/* Domains of the tree that no member has. */
#define NOT_OF_MEMBERS (RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN | FILLED_IN_LATER)
/* The ones that are filled in after the members are summed up. */
#define FILLED_IN_LATER (RTI_HAS_OF_MEMORY | RT_HAS_GPU | RT_HAS_GPU_MEMORY)

/* Samples in a row without a change until the sums are taken over. Some values of a member, such as
 * the growth of its account, belong to one sample, so they change once more in the one after. */
#define SETTLED_SAMPLES 3

/* A gauge may be read for another domain alone. E.g.: RSS for PSS. Then it is in no sum. */
static void add_gauges(const struct rti_tree *tree, const struct rti_member *m,
                       struct rti_sums *sums)
{
	for (size_t i = 0; i < tree->gauge_count; i++)
		tree->gauges[i]->add(&m->values.figures, &sums->figures);
}

static void update_family(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_member *parent;

	m->former.ppid = m->family.ppid;
	if (!m->family.is_linked || m->family.ppid != m->stat.ppid) {
		parent = rti_member_find(&tree->table, m->stat.ppid);
		if (parent)
			parent->family.has_children = tree->has_forked = true;
		m->family.ppid = m->stat.ppid;
		m->family.is_linked = true;
	}
	m->family.has_reaped = rti_ledger_has_grown(&m->account);
	/* What members had reaped by the first sample belongs to the past. */
	tree->has_forked |= m->family.has_reaped && tree->past.was_looked_at;
}

static uint64_t missing_of(uint64_t want, const struct rti_member *m)
{
	return want & ~m->values.figures.valid & ~NOT_OF_MEMBERS;
}

/* What the sums have of the member: they are moved by it when the member has changed. */
static void remember_share(const struct rti_tree *tree, struct rti_member *m)
{
	struct rti_sums alone = { 0 };

	rti_ledger_get_share(&tree->ledger, &m->account, m->summed.counters);
	add_gauges(tree, m, &alone);
	m->summed.rss_bytes = alone.figures.rss_bytes;
	m->summed.threads = (uint32_t)alone.figures.threads;
	m->summed.times_in_ticks = rti_times_in_ticks(&tree->ledger, &tree->supervised, m);
	m->summed.is_there = true;
}

/* Of the children that a member has reaped, what no other account says more exactly. */
static void add_reaped(const struct rti_supervised_state *supervised,
                       const struct rti_ledger *ledger, const struct rti_member *m,
                       struct rti_sums *sums)
{
	if (rti_is_final_account_current(supervised, m)) {
		sums->is_final_account_current = true;
		return;
	}
	if (ledger->self_only || !rti_ledger_has_reaped(&m->account))
		return;
	sums->has_reaped = true;
	sums->has_reaped_faults |= m->account.closed_faults > 0;
	sums->is_in_us |= m->values.figures.is_reaped_in_us;
}

static void add_member(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_figures *figures = &m->values.figures;
	struct rti_sums *sums = &tree->sums;
	struct rt_metrics *out = &sums->figures;
	uint64_t missing = missing_of(tree->want, m), unread = tree->wanted & ~figures->valid;

	update_family(tree, m);
	if (tree->watched.watch)
		remember_share(tree, m);
	rti_ledger_add(&tree->ledger, &m->account);
	sums->times_in_ticks += rti_times_in_ticks(&tree->ledger, &tree->supervised, m);
	sums->ended_run_ns = rti_add_saturated(sums->ended_run_ns, figures->ended_run_ns);
	sums->has_zombie |= rti_pid_stat_is_zombie(&m->stat) && m->pid != tree->supervised.pid;
	add_reaped(&tree->supervised, &tree->ledger, m, sums);
	add_gauges(tree, m, sums);
	sums->is_regular &= !missing && !unread && !figures->estimated;
	out->valid &= ~missing;
	out->partial |= figures->valid | figures->partial;
	out->estimated |= figures->estimated;
	out->members_unreadable += (missing & ~tree->domains.often_partial) != 0;
	out->processes += m->pid != tree->supervised.pid;
	tree->peak_rss_bytes = rti_max(tree->peak_rss_bytes, m->values.peak_rss_bytes);
	tree->has_threads |= m->stat.num_threads > 1 && m->pid != tree->supervised.pid;
	if (figures->ignores_sigchld)
		tree->reasons |= RT_REASON_SIGCHLD_IGNORED;
	if (missing & (RT_HAS_CPU | RT_HAS_FAULTS))
		tree->reasons |= RT_REASON_UNREADABLE;
	if (unread)
		rti_obstacles_note_member(&tree->obstacles, m, unread);
}

/* The processes that samples saw, or the forks that were counted if these are more. */
static uint64_t count_all(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	uint64_t seen = tree->table.added - (tree->supervised.pid != 0);
	uint64_t forked = rti_kernel_account_processes(&tree->kernel_account, NULL);

	if (!forked && tree->kernel_account.has_counted)
		forked = tree->kernel_account.counted.processes;
	else if (!forked)
		forked = shared ? shared->processes
		                : rti_fork_tracker_processes(&tree->discovery.fork_tracker);
	return forked > seen ? forked : seen;
}

static void set_totals(struct rti_tree *tree, struct rt_metrics *out)
{
	const uint64_t *total = tree->ledger.total;

	out->cpu_user_ns = total[RTI_CPU_USER];
	out->cpu_system_ns = total[RTI_CPU_SYSTEM];
	out->minor_faults = total[RTI_MINOR_FAULTS];
	out->major_faults = total[RTI_MAJOR_FAULTS];
	out->voluntary_switches = total[RTI_VOLUNTARY];
	out->involuntary_switches = total[RTI_INVOLUNTARY];
	out->read_bytes = total[RTI_READ_BYTES];
	out->write_bytes = total[RTI_WRITE_BYTES];
	out->cancelled_write_bytes = total[RTI_CANCELLED_BYTES];
	out->read_chars = total[RTI_READ_CHARS];
	out->write_chars = total[RTI_WRITE_CHARS];
	out->read_calls = total[RTI_READ_CALLS];
	out->write_calls = total[RTI_WRITE_CALLS];
	out->processes_seen = count_all(tree);
	out->members_skipped = tree->discovery.skipped;
	if (out->members_skipped > tree->members_skipped_max)
		tree->members_skipped_max = out->members_skipped;
	out->peak_rss_bytes = tree->peak_rss_bytes;
	rti_memory_peak_update(tree, out);
}

/* What the kernel accounts for by itself, and when that was read. The cgroup's account lags behind
 * the clocks of running processes by up to a tick, so it is a lower bound like the others. Of what
 * BPF programs have counted, switches that may be too many are left out: a total never falls. */
static void apply_accounts(struct rti_tree *tree, struct rt_metrics *out)
{
	const struct rti_tree_counted *counted = &tree->kernel_account.counted;
	uint64_t user_ns, system_ns, counters[RTI_COUNTERS];

	if (tree->want & RT_HAS_CPU &&
	    rti_cgroup_read_cpu(&tree->supervised.cgroup, tree->ctx, &user_ns, &system_ns) == 0) {
		rti_ledger_set_floor_from_cgroup(&tree->ledger, user_ns, system_ns,
		                                 tree->supervised.cgroup_lag_ns);
		out->monotonic_ns = tree->ctx->platform->monotonic_ns();
	}
	if (tree->kernel_account.read_at_ns)
		out->monotonic_ns = tree->kernel_account.read_at_ns;
	if (!tree->kernel_account.has_counted)
		return;
	memcpy(counters, counted->counters, sizeof(counters));
	if (!counted->has_switches) {
		counters[RTI_VOLUNTARY] = tree->ledger.sum[RTI_VOLUNTARY];
		counters[RTI_INVOLUNTARY] = tree->ledger.sum[RTI_INVOLUNTARY];
	}
	rti_ledger_set_account(&tree->ledger, counters, counted->has_ended);
}

static void sum_members(struct rti_tree *tree)
{
	struct rti_member *supervisor = rti_member_find(&tree->table, tree->supervised.pid);

	tree->sums = (struct rti_sums){
		.figures.valid = tree->want & ~(uint64_t)FILLED_IN_LATER,
		.is_regular = true,
		.have_shares = tree->watched.watch != NULL,
		.times_in_ticks = tree->kept_in_ticks,
		.ended_run_ns = tree->kept_ended_run_ns,
	};
	rti_ledger_open(&tree->ledger);
	rti_obstacles_open(&tree->obstacles);
	/* What the kernel says exactly of all that the supervisor has reaped. */
	if (tree->supervised.has_final_rusage && supervisor)
		rti_ledger_raise_children(&supervisor->account, tree->supervised.final_rusage);
	for (size_t i = 0; i < tree->table.count; i++) {
		if (!tree->table.members[i].end.has_exited)
			add_member(tree, &tree->table.members[i]);
	}
	rti_obstacles_close(&tree->obstacles);
}

static bool is_regular(uint64_t want, uint64_t wanted, const struct rti_member *m)
{
	return !missing_of(want, m) && !(wanted & ~m->values.figures.valid) &&
	       !m->values.figures.estimated;
}

/* Whether the sums of the last sample can be moved by what has changed since: no member has gone,
 * and of all members all is known, so that they differ in numbers alone. */
static bool can_move_sums(const struct rti_tree *tree)
{
	const uint64_t movable = RT_HAS_RSS | RT_HAS_VIRTUAL | RT_HAS_THREADS;

	if (!tree->watched.is_partial || tree->watched.must_sum_all || !tree->sums.have_shares ||
	    !tree->sums.is_regular || tree->supervised.has_final_rusage)
		return false;
	for (size_t i = 0; i < tree->gauge_count; i++)
		if (tree->gauges[i]->provides & ~movable)
			return false;
	for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);)
		if (!is_regular(tree->want, tree->wanted, &tree->table.members[i]))
			return false;
	return true;
}

/* Take out what the sums have of a member that has changed, and add what it has now. */
static void move_sums(struct rti_tree *tree)
{
	struct rti_sums *sums = &tree->sums;

	for (size_t i = SIZE_MAX; (i = rti_watch_next_unsettled(&tree->watched, i)) != SIZE_MAX;) {
		struct rti_member *m = &tree->table.members[i];

		if (m->summed.is_there) {
			rti_ledger_subtract(&tree->ledger, m->summed.counters);
			sums->figures.rss_bytes -= m->summed.rss_bytes;
			sums->figures.threads -= m->summed.threads;
			sums->times_in_ticks -= m->summed.times_in_ticks;
			sums->figures.processes -= m->pid != tree->supervised.pid;
		}
		add_member(tree, m);
	}
}

void rti_tree_sum_up(struct rti_tree *tree, struct rt_metrics *out)
{
	if (can_move_sums(tree))
		move_sums(tree);
	else if (tree->unchanged_samples < SETTLED_SAMPLES)
		sum_members(tree);
	*out = tree->sums.figures;
	rti_obstacles_begin_sample(&tree->obstacles, &tree->discovery);
	rti_memory_set_figures(&tree->memory, tree->want, tree->now_ns, out);
	rti_obstacles_note_memory(tree);
	apply_accounts(tree, out);
	rti_ledger_close(&tree->ledger);
	set_totals(tree, out);
	rti_served_reads_look_at_ended(tree, out);
	rti_tree_gpu_set_figures(tree, out);
	rti_marks_set(tree, out);
}
