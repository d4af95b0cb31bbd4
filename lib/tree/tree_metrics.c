/* SPDX-License-Identifier: MIT */
/* Summing up the members of a tree into the figures of a sample. */
#include "tree/tree_metrics.h"

#include "collect/pid_stat.h"
#include "os/cpu_time.h"
#include "os/supervisor_protocol.h"
#include "tree/gpu.h"
#include "tree/kernel_account.h"
#include "tree/memory_figures.h"
#include "tree/memory_peak.h"
#include "tree/obstacles.h"
#include "tree/watch_members.h"
#include "tree/watched.h"

#define US_NS 1000u

/* Domains of the tree that no member has. */
#define NOT_OF_MEMBERS                                                                             \
	(RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN | RT_HAS_PSS | RT_HAS_PEAK_TREE | RT_HAS_GPU |   \
	 RT_HAS_GPU_MEMORY)
/* Of them, those that are filled in after the members are summed up. */
#define FILLED_IN_LATER (RT_HAS_PSS | RT_HAS_PEAK_TREE | RT_HAS_GPU | RT_HAS_GPU_MEMORY)

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
			parent->family.has_children = true;
		m->family.ppid = m->stat.ppid;
		m->family.is_linked = true;
	}
	m->family.has_reaped = rti_ledger_has_grown(&m->account);
}

static uint64_t missing_of(const struct rti_tree *tree, const struct rti_member *m)
{
	return tree->want & ~m->values.figures.valid & ~NOT_OF_MEMBERS;
}

/* The final account of our own supervisor is exact, and holds all that it has reaped. */
static bool has_final_account(const struct rti_tree *tree, const struct rti_member *m)
{
	return tree->supervised.has_final_rusage && rti_is_supervisor(tree, m);
}

uint8_t rti_times_in_ticks(const struct rti_tree *tree, const struct rti_member *m)
{
	const struct rti_figures *figures = &m->values.figures;
	bool is_reaped =
	    figures->is_reaped_in_ticks && !tree->ledger.self_only && !has_final_account(tree, m);

	return (uint8_t)(2 * figures->is_own_in_ticks + 2 * is_reaped);
}

/* Remember what the sums have of a member, to move them when the member has changed. */
static void note_summed(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_sums alone = { 0 };

	rti_ledger_get_share(&tree->ledger, &m->account, m->summed.counters);
	add_gauges(tree, m, &alone);
	m->summed.rss_bytes = alone.figures.rss_bytes;
	m->summed.threads = (uint32_t)alone.figures.threads;
	m->summed.times_in_ticks = rti_times_in_ticks(tree, m);
	m->summed.is_there = true;
}

static void take_out(struct rti_tree *tree, struct rti_member *m)
{
	if (!m->summed.is_there)
		return;
	rti_ledger_subtract(&tree->ledger, m->summed.counters);
	tree->sums.figures.rss_bytes -= m->summed.rss_bytes;
	tree->sums.figures.threads -= m->summed.threads;
	tree->sums.times_in_ticks -= m->summed.times_in_ticks;
	tree->sums.figures.processes -= !rti_is_supervisor(tree, m);
}

static void add_member(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_figures *figures = &m->values.figures;
	struct rti_sums *sums = &tree->sums;
	struct rt_metrics *out = &sums->figures;
	uint64_t missing = missing_of(tree, m), unread = tree->wanted & ~figures->valid;

	update_family(tree, m);
	if (tree->watched.watch)
		note_summed(tree, m);
	rti_ledger_add(&tree->ledger, &m->account);
	sums->has_reaped_faults |= m->account.closed_faults > 0;
	sums->times_in_ticks += rti_times_in_ticks(tree, m);
	sums->has_zombie |= rti_pid_stat_is_zombie(&m->stat) && !rti_is_supervisor(tree, m);
	if (!has_final_account(tree, m) && !tree->ledger.self_only)
		sums->has_reaped |= rti_ledger_has_reaped(&m->account);
	add_gauges(tree, m, sums);
	sums->is_regular &= !missing && !unread && !figures->estimated;
	out->valid &= ~missing;
	out->partial |= figures->valid | figures->partial;
	out->estimated |= figures->estimated;
	out->members_unreadable += (missing & ~tree->domains.often_partial) != 0;
	out->processes += !rti_is_supervisor(tree, m);
	rti_raise_peak_rss(tree, m->values.peak_rss_bytes);
	tree->has_threads |= m->stat.num_threads > 1 && !rti_is_supervisor(tree, m);
	if (figures->ignores_sigchld)
		rti_add_reasons(tree, RT_REASON_SIGCHLD_IGNORED);
	if (missing & (RT_HAS_CPU | RT_HAS_FAULTS))
		rti_add_reasons(tree, RT_REASON_UNREADABLE);
	if (unread)
		rti_obstacles_note_member(tree, m, unread);
}

/* Context switches of an exited process are reported to the process that waits for it alone. */
static bool knows_all_switches(const struct rti_tree *tree)
{
	if (tree->supervised.has_final_rusage)
		return !tree->ledger.has_unwaited;
	if (tree->ledger.has_exits)
		return false;
	return tree->ledger.self_only || !tree->sums.has_reaped_faults;
}

/* The processes that samples saw, or those that were counted by their forks. */
static uint64_t count_all(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	uint64_t seen = tree->table.added - (tree->supervised.pid != 0);
	uint64_t forked = rti_kernel_account_processes(tree, NULL);

	if (!forked && tree->kernel_account.has_counted)
		forked = tree->kernel_account.counted.processes;
	else if (!forked)
		forked = shared ? shared->processes
		                : rti_fork_tracker_processes(&tree->discovery.fork_tracker);
	return forked > seen ? forked : seen;
}

/* Whether the count of all processes has every fork up to this sample. That of the supervisor lags
 * behind its events until it has read the last of them. */
static bool counts_every_fork(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	bool is_whole;

	if (tree->ledger.self_only)
		return true;
	if (tree->kernel_account.of_command) {
		rti_kernel_account_processes(tree, &is_whole);
		return is_whole;
	}
	if (!shared)
		return rti_fork_tracker_is_complete(&tree->discovery.fork_tracker);
	return shared->events == RTI_EVENTS_INTACT && tree->supervised.has_final_rusage &&
	       tree->sums.figures.processes == 0;
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

static void make_partial(struct rt_metrics *out, uint64_t domains)
{
	out->partial |= out->valid & domains;
	out->valid &= ~domains;
}

/* Children of a process that ignores SIGCHLD are in no account, and those that no sample saw leave
 * no trace. Nor do process events say what they used. In the end they prove that there was none. */
static bool may_lack_ignored(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;
	bool is_disproved = shared && shared->unproven_ns == 0;

	return tree->reasons & RT_REASON_SIGCHLD_IGNORED && !tree->ledger.self_only &&
	       !is_disproved;
}

/* If something is known to be missing, or may leave no trace, the sums are lower bounds. */
static void mark_losses(struct rti_tree *tree, struct rt_metrics *out)
{
	const uint64_t counters = tree->domains.counters;
	const struct rti_fork_tracker *fork_tracker = &tree->discovery.fork_tracker;

	if (fork_tracker->has_lost_events)
		rti_add_reasons(tree, RT_REASON_EVENTS_LOST);
	if (fork_tracker->has_unwaited_exit)
		rti_add_reasons(tree, RT_REASON_UNWAITED);
	if (tree->discovery.has_skipped) {
		rti_add_reasons(tree, RT_REASON_MEMBERS_SKIPPED);
		make_partial(out, UINT64_MAX);
	}
	if (rti_watched_lacks_reborn(tree))
		make_partial(out, UINT64_MAX);
	if (tree->reasons & (RT_REASON_UNWAITED | RT_REASON_MEMBERS_SKIPPED) ||
	    may_lack_ignored(tree))
		make_partial(out, counters);
	make_partial(out, tree->obstacles.lost.met);
	if (!counts_every_fork(tree))
		make_partial(out, RT_HAS_PROCESSES_SEEN);
	if (tree->want & RT_HAS_CTXSW && !knows_all_switches(tree))
		make_partial(out, RT_HAS_CTXSW);
}

/* Of a process that has exited, no sample may have seen the peak, nor the process itself. That of
 * a zombie was looked at before its end. Only the process that waits for it learns its peak, which
 * may be hidden by an inherited one. E.g.: true(1) has 1 MiB, a sample saw 4 KiB of it, and it
 * inherited 1.1 MiB. */
static void mark_peaks(const struct rti_tree *tree, struct rt_metrics *out)
{
	const struct rti_supervised_state *s = &tree->supervised;
	bool is_final = s->has_final_rusage && tree->peak_rss_bytes >= s->final_peak_bytes,
	     has_gone = tree->ledger.has_exits || tree->sums.has_zombie || tree->sums.has_reaped ||
	                may_lack_ignored(tree);

	if (has_gone && !is_final)
		make_partial(out, RT_HAS_PEAK_RSS);
	if (tree->peak_rss_bytes == 0) { /* no sample saw any member alive */
		out->valid &= ~RT_HAS_PEAK_RSS;
		out->partial &= ~RT_HAS_PEAK_RSS;
	}
}

/* The cgroup's CPU time is complete, whatever members could be read. */
static void mark_cgroup(const struct rti_tree *tree, struct rt_metrics *out)
{
	if (!tree->ledger.is_covered_by_cgroup)
		return;
	out->valid |= RT_HAS_CPU;
	out->partial &= ~RT_HAS_CPU;
}

/* Whether the supervisor has reaped all processes that were counted: each one has page faults. Then
 * the largest peak is that of wait4(2), also of processes that the programs had no row for. */
static bool has_reaped_counted(const struct rti_tree *tree)
{
	const struct rti_supervised_state *s = &tree->supervised;
	const struct rti_tree_counted *counted = &tree->kernel_account.counted;

	return s->has_final_rusage && counted->is_final &&
	       s->final_rusage[RTI_MINOR_FAULTS] == counted->counters[RTI_MINOR_FAULTS] &&
	       s->final_rusage[RTI_MAJOR_FAULTS] == counted->counters[RTI_MAJOR_FAULTS] &&
	       tree->peak_rss_bytes >= s->final_peak_bytes;
}

/* No sample may have seen a process of which BPF programs have no peak. E.g.: 9000 processes run,
 * and one that comes then uses most memory. */
static bool lacks_counted_peaks(const struct rti_tree *tree)
{
	const struct rti_tree_counted *counted = &tree->kernel_account.counted;

	return counted->is_behind || (counted->lacks_peaks && !has_reaped_counted(tree));
}

/* BPF programs have counted every thread, whatever members could be read and waited for. */
static void mark_counted(const struct rti_tree *tree, struct rt_metrics *out)
{
	const struct rti_kernel_account *s = &tree->kernel_account;
	uint64_t whole = tree->domains.counters;

	if (!s->has_counted)
		return;
	if (s->counted.is_behind) {
		make_partial(out, tree->domains.counters);
		whole = 0;
	}
	if (!s->counted.has_io)
		whole &= ~(uint64_t)(RT_HAS_IO | RT_HAS_IO_CALLS);
	/* A process is counted when it is forked, unless there was no mark for it. */
	if (!s->has_lost)
		whole |= RT_HAS_PROCESSES_SEEN;
	else
		make_partial(out, RT_HAS_PROCESSES_SEEN);
	if (s->counted.has_peaks && !s->counted.is_behind &&
	    (s->counted.is_final || tree->sums.figures.valid & RT_HAS_PEAK_RSS))
		whole |= RT_HAS_PEAK_RSS;
	if (lacks_counted_peaks(tree))
		make_partial(out, RT_HAS_PEAK_RSS);
	out->valid |= whole & tree->want;
	out->partial &= ~whole;
}

/* Each time that was read in clock ticks lacks up to one. E.g.: 100 shells that each ran a program
 * of 9 ms show nothing of it. A complete figure may lack a hundredth of the total. */
static void mark_ticks(const struct rti_tree *tree, struct rt_metrics *out)
{
	uint64_t total_ns = out->cpu_user_ns + out->cpu_system_ns;

	if (tree->sums.times_in_ticks * tree->ctx->platform->tick_ns <= total_ns / 100)
		return;
	make_partial(out, RT_HAS_CPU);
	out->reasons = RT_REASON_CLOCK_TICKS;
}

static bool is_counted_whole(const struct rti_tree *tree)
{
	return tree->kernel_account.has_counted && !tree->kernel_account.counted.is_behind;
}

/* Another account may have CPU time that is not in ticks. */
static uint32_t reasons_of(const struct rti_tree *tree, const struct rt_metrics *out)
{
	if (is_counted_whole(tree))
		return 0;
	return tree->reasons | (out->partial & RT_HAS_CPU ? out->reasons : 0);
}

/* Of what a process has reaped, the kernel says the CPU time in clock ticks, and to the process
 * itself in microseconds. */
static uint64_t cpu_resolution_ns(const struct rti_tree *tree)
{
	const struct rti_platform *platform = tree->ctx->platform;

	if (is_counted_whole(tree))
		return 1;
	if (tree->ledger.is_covered_by_cgroup)
		return US_NS;
	if (tree->sums.times_in_ticks || !platform->cpu_clock)
		return platform->tick_ns;
	return tree->sums.has_reaped || tree->supervised.has_final_rusage ? US_NS : 1;
}

/* What the kernel says exactly of all that the supervisor has reaped. */
static void apply_final_rusage(struct rti_tree *tree)
{
	struct rti_member *supervisor = rti_member_find(&tree->table, tree->supervised.pid);

	if (tree->supervised.has_final_rusage && supervisor)
		rti_ledger_raise_children(&supervisor->account, tree->supervised.final_rusage);
}

/* The cgroup's account lags behind the clocks of running processes by up to a tick, so it is a
 * lower bound like the others. */
static void apply_cgroup(struct rti_tree *tree)
{
	uint64_t user_ns, system_ns;

	if (tree->want & RT_HAS_CPU &&
	    rti_cgroup_read_cpu(&tree->supervised.cgroup, tree->ctx, &user_ns, &system_ns) == 0)
		rti_ledger_set_floor_from_cgroup(&tree->ledger, user_ns, system_ns,
		                                 tree->supervised.cgroup_lag_ns);
}

static void apply_counted(struct rti_tree *tree)
{
	const struct rti_kernel_account *s = &tree->kernel_account;

	if (s->has_counted)
		rti_ledger_set_account(&tree->ledger, s->counted.counters, s->counted.is_final);
}

static void sum_members(struct rti_tree *tree)
{
	tree->sums = (struct rti_sums){
		.figures.valid = tree->want & ~(uint64_t)FILLED_IN_LATER,
		.is_regular = true,
		.have_shares = tree->watched.watch != NULL,
		.times_in_ticks = tree->kept_in_ticks,
	};
	rti_ledger_open(&tree->ledger);
	rti_obstacles_open(tree);
	apply_final_rusage(tree);
	for (size_t i = 0; i < tree->table.count; i++) {
		if (!tree->table.members[i].end.has_exited)
			add_member(tree, &tree->table.members[i]);
	}
	rti_obstacles_close(tree);
}

static bool is_regular(const struct rti_tree *tree, const struct rti_member *m)
{
	return !missing_of(tree, m) && !(tree->wanted & ~m->values.figures.valid) &&
	       !m->values.figures.estimated;
}

/* Whether the sums of the last sample can be moved by what has changed since: no member has gone,
 * and of all members all is known, so that they differ in numbers alone. */
static bool can_move_sums(const struct rti_tree *tree)
{
	const uint64_t movable = RT_HAS_RSS | RT_HAS_THREADS;

	if (!tree->watched.is_partial || tree->watched.must_sum_all || !tree->sums.have_shares ||
	    !tree->sums.is_regular || tree->supervised.has_final_rusage)
		return false;
	for (size_t i = 0; i < tree->gauge_count; i++)
		if (tree->gauges[i]->provides & ~movable)
			return false;
	for (size_t i = SIZE_MAX; rti_watch_up(tree, &i);)
		if (!is_regular(tree, &tree->table.members[i]))
			return false;
	return true;
}

static void move_sums(struct rti_tree *tree)
{
	for (size_t i = SIZE_MAX; (i = rti_watch_next_unsettled(tree, i)) != SIZE_MAX;) {
		take_out(tree, &tree->table.members[i]);
		add_member(tree, &tree->table.members[i]);
	}
}

void rti_tree_sum_up(struct rti_tree *tree, struct rt_metrics *out)
{
	if (can_move_sums(tree))
		move_sums(tree);
	else if (tree->unchanged_samples < SETTLED_SAMPLES)
		sum_members(tree);
	*out = tree->sums.figures;
	rti_obstacles_begin_sample(tree);
	rti_memory_set_figures(tree, out);
	rti_obstacles_note_pss(tree);
	apply_cgroup(tree);
	apply_counted(tree);
	rti_ledger_close(&tree->ledger);
	set_totals(tree, out);
	rti_tree_gpu_set_figures(tree, out);
	mark_losses(tree, out);
	mark_ticks(tree, out);
	mark_peaks(tree, out);
	mark_cgroup(tree, out);
	mark_counted(tree, out);
	/* A domain is complete, an estimate or a lower bound: one of the three. */
	out->estimated &= tree->want & ~out->valid;
	out->partial &= tree->want & ~out->valid & ~out->estimated;
	out->reasons = reasons_of(tree, out);
	out->cpu_resolution_ns = cpu_resolution_ns(tree);
}
