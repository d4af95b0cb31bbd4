/* SPDX-License-Identifier: MIT */
/* One process tree: reads its members in an order that keeps the accounts straight, and sums
 * them up. */
#include "tree/tree.h"

#include <errno.h>
#include <string.h>

#include "command/process_list.h"
#include "tree/discovery.h"
#include "tree/exit_accounting.h"
#include "tree/member_read.h"
#include "tree/memory_peak.h"
#include "util/descendant_set.h"

#define US 1000u

int rti_tree_init(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid,
                  uint32_t files_max)
{
	bool is_followed = !(ctx->flags & RT_OPT_NO_CHILDREN);

	*tree = (struct rti_tree){ .ledger.self_only = !is_followed, .cgroup = RTI_CGROUP_INIT };
	return rti_member_table_init(&tree->table, ctx, pid, is_followed, files_max);
}

void rti_tree_free(struct rti_tree *tree, const struct rti_context *ctx)
{
	rti_cgroup_close(&tree->cgroup, ctx);
	rti_member_table_free(&tree->table, ctx);
}

/* Who has not run was not asked again. */
static uint32_t pss_source(const struct rti_tree *tree, const struct rti_member *m)
{
	bool is_old = m->figures.pss_source == RT_PSS_READ && m->pss.read_ns < tree->sampled_ns;

	return is_old ? RT_PSS_CACHED : m->figures.pss_source;
}

static uint64_t pss_age_ns(const struct rti_tree *tree, const struct rti_member *m)
{
	return pss_source(tree, m) == RT_PSS_CACHED && m->pss.read_ns
	           ? tree->sampled_ns - m->pss.read_ns
	           : 0;
}

/* The oldest reading and the weakest source tell of the sum. */
static void add_pss(const struct rti_tree *tree, const struct rti_member *m, struct rt_metrics *out)
{
	uint64_t age_ns = pss_age_ns(tree, m);

	out->pss_bytes += m->figures.pss_bytes;
	if (age_ns > out->pss_age_ns)
		out->pss_age_ns = age_ns;
	if (pss_source(tree, m) > out->pss_source)
		out->pss_source = pss_source(tree, m);
}

static void add_member(struct rti_tree *tree, struct rti_member *m, uint64_t want,
                       struct rt_metrics *out)
{
	uint64_t missing = want & ~m->figures.valid & ~RT_HAS_PROCESSES;
	struct rti_member *parent = rti_member_find(&tree->table, m->stat.ppid);

	if (parent)
		parent->has_children = true;
	m->previous_ppid = m->stat.ppid;
	m->has_reaped = rti_ledger_has_grown(&m->account);
	rti_ledger_add(&tree->ledger, &m->account);
	add_pss(tree, m, out);
	out->valid &= ~missing;
	out->partial |= m->figures.valid | m->figures.partial;
	out->members_unreadable += (missing & ~RT_HAS_CTXSW) != 0;
	/* it may be read for PSS alone */
	out->rss_bytes += want & RT_HAS_RSS ? m->figures.rss_bytes : 0;
	out->threads += m->figures.threads;
	out->processes += m->pid != tree->supervisor_pid;
	if (m->peak_rss_bytes > tree->peak_rss_bytes)
		tree->peak_rss_bytes = m->peak_rss_bytes;
	if (m->figures.ignores_sigchld)
		tree->reasons |= RT_REASON_SIGCHLD_IGNORED;
	if (missing & (RT_HAS_CPU | RT_HAS_FAULTS))
		tree->reasons |= RT_REASON_UNREADABLE;
}

/* Switches of the dead are told to nobody but who waits for them. */
static bool knows_all_switches(const struct rti_tree *tree)
{
	const struct rti_member_table *table = &tree->table;

	if (tree->has_final_rusage)
		return !tree->ledger.has_unwaited;
	if (tree->ledger.has_exits)
		return false;
	for (size_t i = 0; i < table->count && !tree->ledger.self_only; i++) {
		if (table->members[i].account.closed_faults > 0)
			return false;
	}
	return true;
}

bool rti_tree_sees_every_fork(const struct rti_tree *tree)
{
	return tree->shared ? tree->shared->events == RTI_EVENTS_INTACT
	                    : rti_fork_tracker_is_complete(&tree->table.fork_tracker);
}

uint64_t rti_tree_most_alive(const struct rti_tree *tree)
{
	return tree->shared ? tree->shared->alive_peak
	                    : tree->table.fork_tracker.descendants->alive_peak;
}

/* Those that samples saw, and those that were heard of. */
static uint64_t count_all(const struct rti_tree *tree)
{
	const struct rti_descendant_set *descendants = tree->table.fork_tracker.descendants;
	uint64_t members_seen = tree->table.members_seen - (tree->supervisor_pid != 0),
		 heard = descendants ? descendants->count : 0;

	if (tree->shared)
		heard = tree->shared->processes;
	return heard > members_seen ? heard : members_seen;
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
	out->processes_seen = count_all(tree);
	out->members_skipped = tree->table.skipped;
	if (out->members_skipped > tree->most_skipped)
		tree->most_skipped = out->members_skipped;
	out->peak_rss_bytes = tree->peak_rss_bytes;
	rti_memory_peak_update(tree, out);
}

static void make_partial(struct rt_metrics *out, uint64_t has)
{
	out->partial |= out->valid & has;
	out->valid &= ~has;
}

/* What the accounts of members cannot know makes lower bounds of their sums. */
static void mark_bounds(struct rti_tree *tree, struct rt_metrics *out)
{
	const uint64_t counters = RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW;

	if (tree->table.fork_tracker.has_lost_events)
		tree->reasons |= RT_REASON_EVENTS_LOST;
	if (tree->table.fork_tracker.has_unwaited_exit)
		tree->reasons |= RT_REASON_UNWAITED;
	if (tree->table.has_skipped) {
		tree->reasons |= RT_REASON_MEMBERS_SKIPPED;
		make_partial(out, UINT64_MAX);
	}
	if (tree->reasons & (RT_REASON_UNWAITED | RT_REASON_MEMBERS_SKIPPED))
		make_partial(out, counters);
	if (tree->want & RT_HAS_CTXSW && !knows_all_switches(tree))
		make_partial(out, RT_HAS_CTXSW);
	/* The last look at a member came before its end, and only who waits for it is told its
	 * peak. */
	if (tree->ledger.has_exits && !tree->has_final_rusage)
		make_partial(out, RT_HAS_PEAK_RSS);
	if (tree->peak_rss_bytes == 0) { /* no sample saw any member alive */
		out->valid &= ~RT_HAS_PEAK_RSS;
		out->partial &= ~RT_HAS_PEAK_RSS;
	}
	/* the cgroup's account is complete, whatever members could be read */
	if (tree->ledger.is_covered_by_cgroup) {
		out->valid |= RT_HAS_CPU;
		out->partial &= ~RT_HAS_CPU;
	}
}

/* The kernel tells in clock ticks what a process has reaped, unless somebody else knows better. */
static uint64_t cpu_resolution_ns(const struct rti_tree *tree, const struct rti_context *ctx)
{
	if (tree->ledger.is_covered_by_cgroup)
		return US;
	if (!ctx->platform->cpu_clock)
		return ctx->platform->tick_ns;
	for (size_t i = 0; i < tree->table.count && !tree->ledger.self_only; i++) {
		const struct rti_member *m = &tree->table.members[i];

		if (!(tree->has_final_rusage && m->pid == tree->supervisor_pid) &&
		    rti_ledger_has_reaped(&m->account))
			return ctx->platform->tick_ns;
	}
	return tree->has_final_rusage ? US : 1;
}

/* A domain that any member had is either complete or a lower bound; never both. */
static void sum_up(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want,
                   struct rt_metrics *out)
{
	struct rti_member *supervisor = rti_member_find(&tree->table, tree->supervisor_pid);
	uint64_t user_ns, system_ns;

	out->valid = want;
	rti_ledger_open(&tree->ledger);
	if (tree->has_final_rusage && supervisor)
		rti_ledger_raise_children(&supervisor->account, tree->final_rusage);
	for (size_t i = 0; i < tree->table.count; i++) {
		if (!tree->table.members[i].has_exited)
			add_member(tree, &tree->table.members[i], want, out);
	}
	/* Its clock lags behind those of running processes by up to a tick, so it is a lower
	 * bound like the others. */
	if (want & RT_HAS_CPU && rti_cgroup_read_cpu(&tree->cgroup, ctx, &user_ns, &system_ns) == 0)
		rti_ledger_set_floor_from_cgroup(&tree->ledger, user_ns, system_ns);
	rti_ledger_close(&tree->ledger);
	set_totals(tree, out);
	mark_bounds(tree, out);
	out->partial &= want & ~out->valid;
	out->reasons = tree->reasons;
	out->cpu_resolution_ns = cpu_resolution_ns(tree, ctx);
}

void rti_tree_note_time(struct rti_tree *tree, uint64_t now_ns)
{
	tree->now_ns = now_ns;
	rti_pss_save(&tree->pss, now_ns);
}

int rti_tree_sample(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want,
                    struct rti_status *status, struct rt_metrics *out)
{
	uint64_t members_seen = tree->table.members_seen;

	tree->want = want;
	tree->table.samples++;
	rti_tree_note_time(tree, out->monotonic_ns);
	tree->sampled_ns = tree->now_ns;
	tree->needs_reconcile = false;
	rti_pss_begin(&tree->pss);
	tree->table.batch_reader.plan = (struct rti_batch_plan){ rti_request_sample, tree };
	rti_discover_members(&tree->table, ctx);
	if (tree->table.members_seen != members_seen || tree->has_removed_member)
		tree->pss.changed_ns = tree->now_ns;
	for (size_t i = tree->table.count; i-- > 0;)
		rti_read_member(tree, ctx, &tree->table.members[i], status);
	rti_exits_reconcile(tree, ctx, status);
	rti_exits_account(tree);
	sum_up(tree, ctx, want, out);
	tree->has_removed_member =
	    tree->needs_reconcile && rti_member_table_remove_exited(&tree->table, ctx);
	rti_memory_peak_confirm(tree, ctx, out);
	rti_member_table_count_files(&tree->table);
	out->source = tree->table.batch_reader.batch ? RT_SOURCE_BPF : RT_SOURCE_PROC;
	return rti_tree_count(tree) ? 0 : -ESRCH;
}

void rti_tree_set_supervisor(struct rti_tree *tree, int32_t pid,
                             const struct rti_shared_stats *shared)
{
	tree->supervisor_pid = pid;
	tree->shared = tree->table.fork_counts = shared;
}

static void set_counters(const struct rt_rusage *use, uint64_t out[RTI_COUNTERS])
{
	const uint64_t counters[RTI_COUNTERS] = {
		[RTI_CPU_USER] = (uint64_t)(use->ru_utime * 1e9 + 0.5),
		[RTI_CPU_SYSTEM] = (uint64_t)(use->ru_stime * 1e9 + 0.5),
		[RTI_MINOR_FAULTS] = (uint64_t)use->ru_minflt,
		[RTI_MAJOR_FAULTS] = (uint64_t)use->ru_majflt,
		[RTI_VOLUNTARY] = (uint64_t)use->ru_nvcsw,
		[RTI_INVOLUNTARY] = (uint64_t)use->ru_nivcsw,
	};

	memcpy(out, counters, sizeof(counters));
}

void rti_tree_apply_final_rusage(struct rti_tree *tree, const struct rt_rusage *reaped,
                                 int64_t inherited_maxrss_kib)
{
	set_counters(reaped, tree->final_rusage);
	/* An exec hands on the peak of whoever called it, so a small one may be the keeper's. */
	if (reaped->ru_maxrss > inherited_maxrss_kib &&
	    tree->peak_rss_bytes < (uint64_t)reaped->ru_maxrss * 1024)
		tree->peak_rss_bytes = (uint64_t)reaped->ru_maxrss * 1024;
	tree->has_final_rusage = true;
}

/* /proc tells in ticks what it reaped, who waited for it is told more exactly. */
static void raise_reaped(struct rti_account *root, const struct rt_rusage *use)
{
	uint64_t counters[RTI_COUNTERS];

	set_counters(use, counters);
	for (int i = 0; i < RTI_COUNTERS; i++)
		counters[i] -= counters[i] < root->self[i] ? counters[i] : root->self[i];
	rti_ledger_raise_children(root, counters);
}

void rti_tree_account_root_exit(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid,
                                const struct rt_rusage *use)
{
	struct rti_member *root = rti_member_find(&tree->table, pid);

	if (!root)
		return;
	if (use && !tree->ledger.self_only)
		raise_reaped(&root->account, use);
	rti_ledger_keep_final(&tree->ledger, &root->account);
	if (tree->process_list)
		rti_process_list_add_member(tree->process_list, root, 0);
	root->has_exited = true;
	rti_member_table_remove_exited(&tree->table, ctx);
}

size_t rti_tree_count_running(const struct rti_tree *tree)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		count += m->pid != tree->supervisor_pid && !rti_member_is_zombie(m);
	}
	return count;
}

size_t rti_tree_count(const struct rti_tree *tree)
{
	size_t count = tree->table.count;

	return count && tree->supervisor_pid && rti_member_find(&tree->table, tree->supervisor_pid)
	           ? count - 1
	           : count;
}

void rti_tree_row(const struct rti_tree *tree, const struct rti_member *m, struct rt_process *out)
{
	const struct rti_figures *f = &m->figures;

	*out = (struct rt_process){
		.size = sizeof(*out),
		.pid = m->pid,
		.ppid = m->stat.ppid,
		.state = (unsigned char)m->stat.state,
		.valid = f->valid,
		.start_ticks = m->starttime,
		.cpu_user_ns = f->self[RTI_CPU_USER],
		.cpu_system_ns = f->self[RTI_CPU_SYSTEM],
		.reaped_cpu_user_ns = f->children[RTI_CPU_USER],
		.reaped_cpu_system_ns = f->children[RTI_CPU_SYSTEM],
		.rss_bytes = f->rss_bytes,
		.pss_bytes = f->pss_bytes,
		.peak_rss_bytes = f->peak_rss_bytes,
		.read_bytes = f->self[RTI_READ_BYTES],
		.write_bytes = f->self[RTI_WRITE_BYTES],
		.cancelled_write_bytes = f->self[RTI_CANCELLED_BYTES],
		.read_chars = f->self[RTI_READ_CHARS],
		.write_chars = f->self[RTI_WRITE_CHARS],
		.minor_faults = f->self[RTI_MINOR_FAULTS],
		.major_faults = f->self[RTI_MAJOR_FAULTS],
		.voluntary_switches = f->self[RTI_VOLUNTARY],
		.involuntary_switches = f->self[RTI_INVOLUNTARY],
		.threads = f->threads,
		.pss_age_ns = pss_age_ns(tree, m),
		.pss_source = pss_source(tree, m),
	};
	memcpy(out->comm, m->stat.comm, sizeof(out->comm));
}
