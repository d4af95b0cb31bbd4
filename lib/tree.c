/* SPDX-License-Identifier: MIT */
/* One process tree: reads its members in an order that keeps the accounts straight, and sums them up.
 *
 * When a process is reaped, the kernel moves its use into its reaper's account. A sample cannot stop the clock, so it
 * reads children before parents and then checks: whoever's account has grown since the last sample may hold a child
 * that was read as alive. Such children are looked at again, and the accounts of those who reaped are read again
 * once their children are known to be gone. */
#include "tree.h"

#include <errno.h>
#include <string.h>

#include "census.h"
#include "lives.h"
#include "reading.h"

#define NEAR_PEAK 50 /* a fiftieth of it */

int rti_tree_init(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid, uint32_t most_files)
{
	int is_followed = !(ctx->flags & RT_OPT_NO_CHILDREN);

	*tree = (struct rti_tree){ .ledger.own_only = !is_followed, .cgroup = RTI_CGROUP_INIT };
	return rti_proctree_init(&tree->members, ctx, pid, is_followed, most_files);
}

void rti_tree_free(struct rti_tree *tree, const struct rti_context *ctx)
{
	rti_cgroup_close(&tree->cgroup, ctx);
	rti_proctree_free(&tree->members, ctx);
}

static struct rti_member *nearest_live_ancestor(const struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_member *up = rti_proctree_find(&tree->members, m->stat.ppid);

	for (size_t steps = tree->members.count; up && up->is_gone && steps > 0; steps--)
		up = rti_proctree_find(&tree->members, up->stat.ppid);
	if (!up) /* its parent left without our noticing: a keeper adopts whom nobody has */
		up = rti_proctree_find(&tree->members, tree->keeper_pid);
	return up && !up->is_gone ? up : NULL;
}

static int has_reaped(const struct rti_member *m)
{
	return m->account.reaped[RTI_MINOR_FAULTS] + m->account.reaped[RTI_MAJOR_FAULTS] >
	       m->account.closed_faults;
}

/* When it came to light that a process may have reaped children: when its account was read and had grown, or when it
 * was found gone, which may have been after it reaped some. */
static uint64_t may_have_reaped_at(const struct rti_member *m)
{
	if (m->is_gone)
		return m->gone_at;
	return has_reaped(m) ? m->account_at : 0;
}

/* Is a child there still that was read as alive before its parent may have reaped it? 1 when it is not. */
static int recheck(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	const struct rti_member *parent = rti_proctree_find(&tree->members, m->stat.ppid);
	uint64_t reaped_at = parent ? may_have_reaped_at(parent) : 0;

	if (m->is_gone || reaped_at < m->read_at || reaped_at < m->verified_at)
		return 0;
	m->verified_at = ++tree->events;
	/* It may have a new parent by now, who will be the one to reap it. */
	if (rti_proctree_read_stat(&tree->members, ctx, m) != -ESRCH)
		return 0;
	m->is_gone = 1;
	m->gone_at = ++tree->events;
	return 1;
}

/* Every pass that goes on has lost a member or read a reaper for the last time since one was lost: it ends. */
static void reconcile(struct rti_tree *tree, const struct rti_context *ctx, struct rti_status *status)
{
	int is_settled;

	do {
		is_settled = 1;
		for (size_t i = 0; i < tree->members.count; i++) {
			struct rti_member *m = &tree->members.members[i], *reaper;

			if (recheck(tree, ctx, m))
				is_settled = 0;
			if (!m->is_gone)
				continue;
			reaper = nearest_live_ancestor(tree, m);
			if (reaper && reaper->account_at < m->gone_at) {
				rti_read_member_anew(tree, ctx, reaper, status);
				is_settled = 0;
			}
		}
	} while (!is_settled);
}

static void book(struct rti_tree *tree, struct rti_member *m, int is_absorbed)
{
	m->is_booked = 1;
	m->is_absorbed = is_absorbed;
	if (tree->lives && m->pid != tree->keeper_pid)
		rti_lives_note_member(tree->lives, m, 0);
	if (m->peak_rss_bytes > tree->peak_rss_bytes)
		tree->peak_rss_bytes = m->peak_rss_bytes;
}

/* Into the account of the nearest ancestor that is gone too and whose last reading may hold it. */
static int depart_with_ancestor(struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_member *up = rti_proctree_find(&tree->members, m->stat.ppid);

	for (size_t steps = tree->members.count; up && up != m && up->is_gone && steps > 0; steps--) {
		if (rti_ledger_depart_together(&tree->ledger, &m->account, &up->account))
			return 1;
		up = rti_proctree_find(&tree->members, up->stat.ppid);
	}
	return 0;
}

/* Where ancestors are gone too, their last readings may have come after they reaped the member. */
static void depart_together(struct rti_tree *tree)
{
	for (size_t i = tree->members.count; i-- > 0;) {
		struct rti_member *m = &tree->members.members[i];

		if (m->is_gone && depart_with_ancestor(tree, m))
			book(tree, m, 1);
	}
}

/* Members stand behind their parents, so a parent's fate is known when its children's is decided. */
static void depart(struct rti_tree *tree)
{
	depart_together(tree);
	for (size_t i = 0; i < tree->members.count; i++) {
		struct rti_member *m = &tree->members.members[i];
		const struct rti_member *parent = rti_proctree_find(&tree->members, m->stat.ppid);
		struct rti_member *reaper;

		if (!m->is_gone || m->is_booked)
			continue;
		reaper = parent && parent->is_gone && !parent->is_absorbed ? NULL : nearest_live_ancestor(tree, m);
		book(tree, m, rti_ledger_depart(&tree->ledger, &m->account, reaper ? &reaper->account : NULL));
	}
	if (tree->ledger.has_unwaited)
		tree->reasons |= RT_REASON_UNWAITED;
}

/* The oldest reading and the weakest source tell of the sum. */
static void add_pss(const struct rti_tree *tree, const struct rti_member *m, struct rt_metrics *out)
{
	uint64_t age_ns = m->figures.pss_source == RT_PSS_CACHED && m->pss.read_ns ? tree->now_ns - m->pss.read_ns : 0;

	out->pss_bytes += m->figures.pss_bytes;
	if (age_ns > out->pss_age_ns)
		out->pss_age_ns = age_ns;
	if (m->figures.pss_source > out->pss_source)
		out->pss_source = m->figures.pss_source;
}

static void add_member(struct rti_tree *tree, struct rti_member *m, uint64_t want, struct rt_metrics *out)
{
	uint64_t missing = want & ~m->figures.valid & ~RT_HAS_PROCESSES;

	rti_ledger_add(&tree->ledger, &m->account);
	add_pss(tree, m, out);
	out->valid &= ~missing;
	out->partial |= m->figures.valid | m->figures.partial;
	out->members_unreadable += (missing & ~RT_HAS_CTXSW) != 0;
	out->rss_bytes += want & RT_HAS_RSS ? m->figures.rss_bytes : 0; /* it may be read for PSS alone */
	out->threads += m->figures.threads;
	out->processes += m->pid != tree->keeper_pid;
	if (m->peak_rss_bytes > tree->peak_rss_bytes)
		tree->peak_rss_bytes = m->peak_rss_bytes;
	if (m->figures.ignores_sigchld)
		tree->reasons |= RT_REASON_SIGCHLD_IGNORED;
	if (missing & (RT_HAS_CPU | RT_HAS_FAULTS))
		tree->reasons |= RT_REASON_UNREADABLE;
}

/* Switches of the dead are told to nobody but who waits for them. */
static int knows_all_switches(const struct rti_tree *tree)
{
	const struct rti_proctree *members = &tree->members;

	if (tree->is_settled)
		return !tree->ledger.has_unwaited;
	if (tree->ledger.has_departed)
		return 0;
	for (size_t i = 0; i < members->count && !tree->ledger.own_only; i++) {
		if (members->members[i].account.closed_faults > 0)
			return 0;
	}
	return 1;
}

int rti_tree_hears_all(const struct rti_tree *tree)
{
	return tree->board ? tree->board->events == RTI_EVENTS_INTACT : rti_hearing_is_whole(&tree->members.hearing);
}

uint64_t rti_tree_most_alive(const struct rti_tree *tree)
{
	return tree->board ? tree->board->most_alive : tree->members.hearing.census->most_alive;
}

/* Those that samples saw, and those that were heard of. */
static uint64_t count_all(const struct rti_tree *tree)
{
	const struct rti_census *census = tree->members.hearing.census;
	uint64_t seen = tree->members.seen - (tree->keeper_pid != 0), heard = census ? census->count : 0;

	if (tree->board)
		heard = tree->board->processes;
	return heard > seen ? heard : seen;
}

int rti_tree_has_pss_of_peak(const struct rti_tree *tree)
{
	return tree->peak_tree_rss_bytes <= tree->rss_with_pss_bytes + tree->rss_with_pss_bytes / NEAR_PEAK;
}

static void put_totals(struct rti_tree *tree, struct rt_metrics *out)
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
	out->members_skipped = tree->members.skipped;
	if (out->members_skipped > tree->most_skipped)
		tree->most_skipped = out->members_skipped;
	if (out->rss_bytes > tree->peak_tree_rss_bytes)
		tree->peak_tree_rss_bytes = out->rss_bytes;
	if (out->pss_bytes > tree->peak_tree_pss_bytes)
		tree->peak_tree_pss_bytes = out->pss_bytes;
	if (out->pss_bytes && out->rss_bytes > tree->rss_with_pss_bytes)
		tree->rss_with_pss_bytes = out->rss_bytes;
	out->peak_rss_bytes = tree->peak_rss_bytes;
	out->peak_tree_rss_bytes = tree->peak_tree_rss_bytes;
	out->peak_tree_pss_bytes = tree->peak_tree_pss_bytes;
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

	if (tree->members.hearing.has_lost)
		tree->reasons |= RT_REASON_EVENTS_LOST;
	if (tree->members.hearing.has_lost_orphan)
		tree->reasons |= RT_REASON_UNWAITED;
	if (tree->members.has_skipped) {
		tree->reasons |= RT_REASON_MEMBERS_SKIPPED;
		make_partial(out, UINT64_MAX);
	}
	if (tree->reasons & (RT_REASON_UNWAITED | RT_REASON_MEMBERS_SKIPPED))
		make_partial(out, counters);
	if (!knows_all_switches(tree))
		make_partial(out, RT_HAS_CTXSW);
	/* The last look at a member came before its end, and only who waits for it is told its peak. */
	if (tree->ledger.has_departed && !tree->is_settled)
		make_partial(out, RT_HAS_PEAK_RSS);
	if (tree->peak_rss_bytes == 0) { /* no sample saw any member alive */
		out->valid &= ~RT_HAS_PEAK_RSS;
		out->partial &= ~RT_HAS_PEAK_RSS;
	}
	if (tree->ledger.is_claimed) { /* the cgroup's account is complete, whatever members could be read */
		out->valid |= RT_HAS_CPU;
		out->partial &= ~RT_HAS_CPU;
	}
}

/* A domain that any member had is either complete or a lower bound; never both. */
static void sum_up(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want, struct rt_metrics *out)
{
	struct rti_member *keeper = rti_proctree_find(&tree->members, tree->keeper_pid);
	uint64_t user_ns, system_ns;

	out->valid = want;
	rti_ledger_open(&tree->ledger);
	if (tree->is_settled && keeper)
		rti_ledger_raise(&keeper->account, tree->settled);
	for (size_t i = 0; i < tree->members.count; i++) {
		if (!tree->members.members[i].is_gone)
			add_member(tree, &tree->members.members[i], want, out);
	}
	/* Its clock lags behind those of running processes by up to a tick, so it is a lower bound like the others. */
	if (want & RT_HAS_CPU && rti_cgroup_read_cpu(&tree->cgroup, ctx, &user_ns, &system_ns) == 0)
		rti_ledger_claim(&tree->ledger, user_ns, system_ns);
	rti_ledger_close(&tree->ledger);
	put_totals(tree, out);
	mark_bounds(tree, out);
	out->partial &= want & ~out->valid;
	out->reasons = tree->reasons;
}

/* The clock of the budget, and of all that is read seldom. */
static void note_time(struct rti_tree *tree, const struct rti_context *ctx)
{
	struct rti_now now;

	ctx->env->now(&now);
	tree->now_ns = now.monotonic_ns;
	rti_pss_save(&tree->pss, now.monotonic_ns);
}

int rti_tree_sample(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want, struct rti_status *status,
                    struct rt_metrics *out)
{
	tree->want = want;
	tree->members.samples++;
	note_time(tree, ctx);
	rti_pss_begin(&tree->pss);
	rti_proctree_discover(&tree->members, ctx, tree->now_ns);
	for (size_t i = tree->members.count; i-- > 0;)
		rti_read_member(tree, ctx, &tree->members.members[i], status);
	reconcile(tree, ctx, status);
	depart(tree);
	sum_up(tree, ctx, want, out);
	rti_proctree_remove_gone(&tree->members, ctx);
	rti_proctree_count_files(&tree->members);
	out->cpu_resolution_ns = ctx->env->cpu_clock ? 1 : ctx->env->tick_ns;
	out->source = RT_SOURCE_PROC;
	return rti_tree_count(tree) ? 0 : -ESRCH;
}

/* Of those whose RSS has moved since theirs was read last; the others are carried on. */
static int is_stale(const struct rti_member *m)
{
	uint64_t far = m->pss.rss_bytes / NEAR_PEAK;

	return !m->pss.read_ns || m->glance_rss_bytes > m->pss.rss_bytes + far || m->glance_rss_bytes + far < m->pss.rss_bytes;
}

/* What the sum of PSS is at a peak of RSS, if that can be afforded at once. */
static void look_at_peak(struct rti_tree *tree, const struct rti_context *ctx, uint64_t rss_bytes)
{
	struct rti_proctree *members = &tree->members;
	uint64_t cost_ns = 0, pss_bytes = 0;

	for (size_t i = 0; i < members->count; i++) {
		if (is_stale(&members->members[i]))
			cost_ns += rti_pss_predict(&tree->pss, members->members[i].glance_rss_bytes);
	}
	if (cost_ns > tree->pss.saved_ns)
		return;
	for (size_t i = 0; i < members->count; i++) {
		struct rti_member *m = &members->members[i];

		if (m->glance_rss_bytes && is_stale(m))
			rti_read_pss(tree, ctx, m, m->glance_rss_bytes);
		pss_bytes += rti_pss_carry(&m->pss, m->glance_rss_bytes);
	}
	tree->rss_with_pss_bytes = rss_bytes;
	if (pss_bytes > tree->peak_tree_pss_bytes)
		tree->peak_tree_pss_bytes = pss_bytes;
}

void rti_tree_glance(struct rti_tree *tree, const struct rti_context *ctx)
{
	uint64_t rss_bytes = 0;

	note_time(tree, ctx);
	rti_proctree_discover(&tree->members, ctx, tree->now_ns);
	for (size_t i = 0; i < tree->members.count; i++) {
		struct rti_member *m = &tree->members.members[i];

		m->glance_rss_bytes = m->pid == tree->keeper_pid ? 0 : rti_read_rss(tree, ctx, m);
		rss_bytes += m->glance_rss_bytes;
	}
	if (rss_bytes > tree->peak_tree_rss_bytes)
		tree->peak_tree_rss_bytes = rss_bytes;
	if (tree->want & RT_HAS_PSS && !rti_tree_has_pss_of_peak(tree))
		look_at_peak(tree, ctx, rss_bytes);
}

void rti_tree_set_keeper(struct rti_tree *tree, int32_t pid, const struct rti_board *board)
{
	tree->keeper_pid = pid;
	tree->board = board;
}

void rti_tree_settle(struct rti_tree *tree, const struct rt_rusage *reaped, int64_t bequeathed_kib)
{
	const uint64_t counters[RTI_COUNTERS] = {
		[RTI_CPU_USER] = (uint64_t)(reaped->ru_utime * 1e9 + 0.5),
		[RTI_CPU_SYSTEM] = (uint64_t)(reaped->ru_stime * 1e9 + 0.5),
		[RTI_MINOR_FAULTS] = (uint64_t)reaped->ru_minflt,
		[RTI_MAJOR_FAULTS] = (uint64_t)reaped->ru_majflt,
		[RTI_VOLUNTARY] = (uint64_t)reaped->ru_nvcsw,
		[RTI_INVOLUNTARY] = (uint64_t)reaped->ru_nivcsw,
	};

	memcpy(tree->settled, counters, sizeof(counters));
	/* An exec hands on the peak of whoever called it, so a small one may be the keeper's. */
	if (reaped->ru_maxrss > bequeathed_kib && tree->peak_rss_bytes < (uint64_t)reaped->ru_maxrss * 1024)
		tree->peak_rss_bytes = (uint64_t)reaped->ru_maxrss * 1024;
	tree->is_settled = 1;
}

void rti_tree_retire_root(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid)
{
	struct rti_member *root = rti_proctree_find(&tree->members, pid);

	if (!root)
		return;
	rti_ledger_retire(&tree->ledger, &root->account);
	if (tree->lives)
		rti_lives_note_member(tree->lives, root, 0);
	root->is_gone = 1;
	rti_proctree_remove_gone(&tree->members, ctx);
}

size_t rti_tree_count(const struct rti_tree *tree)
{
	size_t count = tree->members.count;

	return count && tree->keeper_pid && rti_proctree_find(&tree->members, tree->keeper_pid) ? count - 1 : count;
}

void rti_tree_row(const struct rti_tree *tree, const struct rti_member *m, struct rt_process *out)
{
	const struct rti_figures *f = &m->figures;
	int is_old = f->pss_source == RT_PSS_CACHED && m->pss.read_ns;

	*out = (struct rt_process){
		.size = sizeof(*out),
		.pid = m->pid,
		.ppid = m->stat.ppid,
		.state = (unsigned char)m->stat.state,
		.valid = f->valid,
		.start_ticks = m->starttime,
		.cpu_user_ns = f->own[RTI_CPU_USER],
		.cpu_system_ns = f->own[RTI_CPU_SYSTEM],
		.reaped_cpu_user_ns = f->reaped[RTI_CPU_USER],
		.reaped_cpu_system_ns = f->reaped[RTI_CPU_SYSTEM],
		.rss_bytes = f->rss_bytes,
		.pss_bytes = f->pss_bytes,
		.peak_rss_bytes = f->peak_rss_bytes,
		.read_bytes = f->own[RTI_READ_BYTES],
		.write_bytes = f->own[RTI_WRITE_BYTES],
		.cancelled_write_bytes = f->own[RTI_CANCELLED_BYTES],
		.read_chars = f->own[RTI_READ_CHARS],
		.write_chars = f->own[RTI_WRITE_CHARS],
		.minor_faults = f->own[RTI_MINOR_FAULTS],
		.major_faults = f->own[RTI_MAJOR_FAULTS],
		.voluntary_switches = f->own[RTI_VOLUNTARY],
		.involuntary_switches = f->own[RTI_INVOLUNTARY],
		.threads = f->threads,
		.pss_age_ns = is_old ? tree->now_ns - m->pss.read_ns : 0,
		.pss_source = f->pss_source,
	};
	memcpy(out->comm, m->stat.comm, sizeof(out->comm));
}
