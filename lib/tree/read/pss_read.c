/* SPDX-License-Identifier: MIT */
/* The PSS of members: which ones to read now, and what is known of them since.
 *
 * Only the anonymous pages of members that share some with others need that, by the PSS of those.
 * If PSS itself is wanted, all members are read in each sample, as far as the budget allows. */
#include "tree/read/pss_read.h"

#include <errno.h>

#include "collect/pid_mm.h"
#include "tree/read/member_read.h"
#include "tree/state/read_policy.h"
#include "util/arith.h"

#define FEW_PAGES 256u
#define MERGING_NS 1000000000u
#define FORGET_COST_NS UINT64_C(60000000000)

static bool has_no_limit(const struct rti_pss_budget *budget)
{
	return budget->share >= RTI_PSS_NO_LIMIT;
}

/* Whether the member may share anonymous pages with others. */
static bool needs_pss(const struct rti_memory_state *memory, const struct rti_member *m)
{
	return memory->is_merging || rti_memory_shares_anon(&m->memory);
}

/* Nothing that a member does shows that its pages are merged. */
static uint64_t refresh_ns(const struct rti_memory_state *memory)
{
	return memory->is_merging ? MERGING_NS : RTI_MEMORY_REFRESH_NS;
}

/* A round of reads. */
struct round {
	uint64_t drift;    /* reads up to then are no longer good */
	bool is_of_all;    /* else of those that share anonymous pages */
	uint64_t cost_ns;  /* 0: there is nothing to read */
	bool reads_a_part; /* all that is due can never be paid for */
};

static bool is_due(const struct rti_tree *tree, const struct rti_member *m,
                   const struct round *round)
{
	const struct rti_pss_part *pss = &m->pss;

	if (!rti_memory_counts(&m->memory) ||
	    (rti_page_is_unreadable(&pss->rollup, tree->now_ns) && !tree->memory.is_forced) ||
	    !(round->is_of_all || needs_pss(&tree->memory, m)))
		return false;
	if (!pss->at_ns || pss->rollup.error < 0)
		return true;
	return pss->drift < round->drift || tree->now_ns - pss->at_ns >= refresh_ns(&tree->memory);
}

/* A member with much in swap costs more than its pages say. That may have changed by and by. */
uint64_t rti_pss_cost_ns(const struct rti_tree *tree, const struct rti_member *m,
                         const struct rti_page_read *last, uint64_t more_ns)
{
	uint64_t bytes = rti_pages_to_bytes(tree->ctx, m->memory.look.rss_pages),
		 cost_ns = more_ns + rti_pss_predict(&tree->pss_budget, bytes);

	if (last->cost_ns < cost_ns || tree->now_ns - last->tried_at_ns > FORGET_COST_NS)
		return cost_ns;
	return last->cost_ns;
}

static uint64_t cost_of(const struct rti_tree *tree, const struct rti_member *m)
{
	return rti_pss_cost_ns(tree, m, &m->pss.rollup, 0);
}

/* RSS when PSS was read. statm may be off by the pages that each CPU has yet to add. So it is only
 * replaced if the process has grown or shrunk meanwhile. */
static uint64_t rss_then(const struct rti_context *ctx, const struct rti_member *m,
                         const struct rti_smaps_rollup *rollup)
{
	uint64_t before = m->memory.look.rss_pages,
		 then = rollup->rss_kib * 1024 / ctx->platform->page_size;
	bool has_changed = then > before + FEW_PAGES || before > then + FEW_PAGES;

	return has_changed ? then : before;
}

static void store_read(struct rti_tree *tree, struct rti_member *m, int err,
                       const struct rti_smaps_rollup *rollup)
{
	struct rti_pss_part *pss = &m->pss;

	pss->rollup.error = err;
	pss->rollup.tried_at_ns = tree->now_ns;
	if (err < 0)
		return;
	pss->lazy_free_bytes = rollup->lazy_free_kib * 1024;
	pss->swap_bytes = rollup->swap_pss_kib * 1024;
	pss->uss_bytes = rollup->private_kib * 1024;
	pss->row_swap_bytes = rollup->swap_kib * 1024;
	pss->at_ns = tree->now_ns;
	pss->pss_bytes = rollup->pss_kib * 1024;
	pss->anon_bytes = rollup->pss_anon_kib * 1024;
	pss->has_kinds = rollup->has_kinds;
	pss->drift = tree->memory.drift;
	pss->anon_pages =
	    rti_subtract_saturated(rss_then(tree->ctx, m, rollup), m->memory.look.shared_pages);
}

/* Returns the CPU time of the caller afterwards, which is where the next one starts. */
static uint64_t read_member(struct rti_tree *tree, struct rti_member *m, uint64_t started_ns)
{
	uint64_t rss_bytes = rti_pages_to_bytes(tree->ctx, m->memory.look.rss_pages), ended_ns;
	struct rti_smaps_rollup rollup;
	int err = rti_read_rollup(tree, m, &rollup);

	ended_ns = tree->ctx->platform->thread_cpu_ns();
	m->pss.rollup.cost_ns = ended_ns - started_ns;
	rti_pss_spend(&tree->pss_budget, rss_bytes, m->pss.rollup.cost_ns);
	store_read(tree, m, err, &rollup);
	tree->unchanged_samples = 0;
	tree->memory.changes++;
	return ended_ns;
}

/* A read that was asked for may block a process for as long as it takes. */
static bool may_take(const struct rti_tree *tree, uint64_t cost_ns)
{
	return tree->memory.is_forced || rti_pss_is_short(&tree->pss_budget, cost_ns);
}

/* By how many pages its sharing with others may have changed since it was looked at; -ESRCH if it
 * has ended. */
static int64_t look_once_more(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_memory_look now = m->memory.look;
	struct rti_pid_statm statm;

	if (rti_read_statm(tree, m, &statm) < 0 || statm.resident_pages == 0)
		return -ESRCH;
	if (rti_memory_needs_stat(&tree->memory, m) && rti_read_member_stat(tree, m) == 0)
		now.faults = m->stat.minflt;
	now.rss_pages = statm.resident_pages;
	now.shared_pages = statm.shared_pages;
	return (int64_t)rti_memory_moved_pages(&m->memory, &now);
}

/* Members run while others are read. If one has ended meanwhile, has executed a program, or has
 * released or copied pages, the others were not all read while they shared with it. E.g.: a child
 * is read while it shares all with its parent. It executes a program, and then the parent is read,
 * which has all for itself. The file is opened by pid: a member that is there when all have been
 * read has had the pid all the time. */
static void check_members(struct rti_tree *tree)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		int64_t pages;

		if (!rti_memory_counts(&m->memory) || m->pss.at_ns != tree->now_ns ||
		    m->pss.rollup.error < 0)
			continue;
		pages = look_once_more(tree, m);
		if (pages < 0)
			m->pss.rollup.error = -ESRCH;
		else
			moved += (uint64_t)pages;
	}
	/* The next sample will see these changes, and count them once more. */
	tree->memory.drift = rti_add_saturated(tree->memory.drift, moved);
}

/* What reading all that is due would cost; can_have_all is cleared if some of it must not be
 * read. */
static uint64_t cost_of_due(const struct rti_tree *tree, const struct round *round,
                            bool *can_have_all)
{
	uint64_t cost_ns = 0;

	*can_have_all = true;
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		uint64_t one_ns;

		if (!is_due(tree, m, round))
			continue;
		one_ns = cost_of(tree, m);
		if (may_take(tree, one_ns))
			cost_ns += one_ns;
		else
			*can_have_all = false;
	}
	return cost_ns;
}

/* Returns the next member that is due, *at members from where the round began or later. */
static struct rti_member *find_due(struct rti_tree *tree, const struct round *round, size_t *at)
{
	size_t count = tree->table.count;

	for (; *at < count; ++*at) {
		struct rti_member *m =
		    &tree->table.members[(tree->memory.rounds.next + *at) % count];

		if (is_due(tree, m, round) && may_take(tree, cost_of(tree, m)))
			return m;
	}
	return NULL;
}

/* Reads become doubtful together: what one member shares less, another has more of. So all of them
 * are read, or, if that can never be paid for, as many as can be now; the cost is that of the least
 * part. Those that are read show what the others share of files and of shared memory. */
static struct round plan_round(struct rti_tree *tree, uint64_t drift, bool is_of_all)
{
	struct round round = { .drift = drift, .is_of_all = is_of_all };
	bool can_have_all;
	size_t at = 0;

	round.cost_ns = cost_of_due(tree, &round, &can_have_all);
	round.reads_a_part =
	    !can_have_all || round.cost_ns > rti_pss_saved_max_ns(&tree->pss_budget);
	if (round.cost_ns > 0 && round.reads_a_part)
		round.cost_ns =
		    rti_max(cost_of(tree, find_due(tree, &round, &at)),
		            rti_pss_least_part_ns(&tree->pss_budget, tree->table.count));
	return round;
}

/* What the footprint rests on. */
static struct round choose_round(struct rti_tree *tree, const struct rti_memory_reads *reads)
{
	if (tree->memory.is_forced || has_no_limit(&tree->pss_budget))
		return plan_round(tree, UINT64_MAX,
		                  tree->memory.is_forced || tree->memory.reads_pss);
	if (!rti_reads_are_within_doubt(reads))
		return plan_round(tree, tree->memory.drift, false);
	/* What was never read, or not for long. */
	if (!reads->has_all || tree->now_ns - reads->oldest_ns >= refresh_ns(&tree->memory))
		return plan_round(tree, 0, false);
	return (struct round){ 0 };
}

/* Read what is due, from where the last round ended, for as long as the budget lasts. What it takes
 * to check and to sum up all members is paid for, too: of 20,000 that is as much as the reads. */
static bool read_round(struct rti_tree *tree, const struct round *round,
                       struct rti_memory_reads *reads)
{
	uint64_t limit_ns = round->reads_a_part && !tree->memory.is_forced
	                        ? rti_pss_saved_ns(&tree->pss_budget)
	                        : UINT64_MAX;
	uint64_t own_cpu_ns = tree->ctx->platform->thread_cpu_ns();
	size_t at = 0;
	struct rti_member *m = find_due(tree, round, &at);
	bool has_read = false;

	while (m && cost_of(tree, m) <= limit_ns) {
		limit_ns -= cost_of(tree, m);
		own_cpu_ns = read_member(tree, m, own_cpu_ns);
		has_read = true;
		at++;
		m = find_due(tree, round, &at);
	}
	if (!has_read)
		return false;
	tree->memory.rounds.next = (tree->memory.rounds.next + at) % tree->table.count;
	check_members(tree);
	rti_memory_sum_reads(tree, reads);
	rti_pss_spend(&tree->pss_budget, 0, tree->ctx->platform->thread_cpu_ns() - own_cpu_ns);
	return true;
}

/* Make a round if the budget allows it. If not, *next_try_ns is when it will. */
static bool try_round(struct rti_tree *tree, const struct round *round, uint64_t *next_try_ns,
                      struct rti_memory_reads *reads)
{
	if (round->cost_ns == 0)
		return false;
	if (!tree->memory.is_forced && !rti_pss_can_afford(&tree->pss_budget, round->cost_ns)) {
		*next_try_ns = tree->now_ns + rti_pss_wait_ns(&tree->pss_budget, round->cost_ns);
		return false;
	}
	return read_round(tree, round, reads);
}

/* PSS of all that was asked for. It leaves half of what can be saved up to what the footprint rests
 * on. E.g.: a process fills its memory, and is read in each sample. Then it forks a pool. */
static bool read_pss(struct rti_tree *tree, struct rti_memory_reads *reads)
{
	struct round round;
	bool has_read;

	if (!tree->memory.reads_pss || tree->now_ns < tree->memory.rounds.next_pss_ns)
		return false;
	round = plan_round(tree, UINT64_MAX, true);
	rti_pss_keep_half(&tree->pss_budget, true);
	has_read = try_round(tree, &round, &tree->memory.rounds.next_pss_ns, reads);
	rti_pss_keep_half(&tree->pss_budget, false);
	return has_read;
}

bool rti_pss_read_due(struct rti_tree *tree, bool is_poll, struct rti_memory_reads *reads)
{
	struct rti_memory_state *state = &tree->memory;
	struct round round;

	if (!state->may_read)
		return false;
	if (!is_poll && read_pss(tree, reads))
		return true;
	if (!state->is_forced && tree->now_ns < state->rounds.next_try_ns)
		return false;
	round = choose_round(tree, reads);
	return try_round(tree, &round, &state->rounds.next_try_ns, reads);
}

struct rti_member *rti_pss_read_suspect(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_member *m;

	/* Pages that others map, too, count less by PSS than they say of the members. */
	if (!state->may_read || state->has_outside_sharer || state->is_merging)
		return NULL;
	m = rti_memory_find_suspect(&tree->table, &state->sums);
	if (!m || rti_page_is_unreadable(&m->pss.rollup, tree->now_ns) ||
	    !rti_pss_is_short(&tree->pss_budget, cost_of(tree, m)) ||
	    !rti_pss_can_borrow(&tree->pss_budget, cost_of(tree, m)))
		return NULL;
	read_member(tree, m, tree->ctx->platform->thread_cpu_ns());
	return m->pss.rollup.error < 0 || !m->pss.has_kinds ? NULL : m;
}

/* What was read, moved by the change of anonymous pages since; at most max_pages, which the process
 * had when it was looked at. That may be before it was read. Pages of files that it has mapped
 * since are rarely its own: they count as drift. */
static uint64_t carry_on(const struct rti_context *ctx, const struct rti_member *m, uint64_t bytes,
                         uint64_t max_pages)
{
	uint64_t then = rti_pages_to_bytes(ctx, m->pss.anon_pages),
		 now = rti_pages_to_bytes(ctx, rti_memory_anon_pages(&m->memory.look)),
		 max_bytes = rti_pages_to_bytes(ctx, max_pages);

	if (m->memory.look.at_ns > m->pss.at_ns)
		bytes = rti_subtract_saturated(bytes + rti_subtract_saturated(now, then),
		                               rti_subtract_saturated(then, now));
	return rti_min(bytes, max_bytes);
}

uint64_t rti_pss_now(const struct rti_context *ctx, const struct rti_member *m)
{
	return carry_on(ctx, m, m->pss.pss_bytes, m->memory.look.rss_pages);
}

static void add_member(const struct rti_tree *tree, const struct rti_member *m,
                       struct rti_memory_reads *reads, uint64_t *drift)
{
	const struct rti_pss_part *pss = &m->pss;
	uint64_t anon_pages = rti_memory_anon_pages(&m->memory.look);
	bool is_read = pss->at_ns && pss->rollup.error >= 0;

	if (!reads->error && rti_page_is_unreadable(&pss->rollup, tree->now_ns))
		reads->error = pss->rollup.error;
	/* Also of one that has ended since: its other pages count for this sample, too. */
	if (pss->at_ns == tree->now_ns ||
	    (pss->smaps.tried_at_ns == tree->now_ns && pss->smaps.error >= 0))
		reads->lazy_free_bytes += pss->lazy_free_bytes;
	/* E.g.: it unmaps memory. The pages are there for some time after the mapping is gone. */
	if (tree->memory.is_forced)
		reads->unseen_bytes += rti_pages_to_bytes(
		    tree->ctx, pss->at_ns == tree->now_ns
				   ? rti_subtract_saturated(anon_pages, pss->anon_pages)
				   : anon_pages);
	reads->mapped_pages += m->memory.look.shared_pages;
	reads->has_pss &= is_read && pss->at_ns == tree->now_ns;
	reads->has_all_pss &= is_read;
	reads->pss_bytes += is_read ? rti_pss_now(tree->ctx, m) : 0;
	if (!needs_pss(&tree->memory, m)) {
		reads->swap_bytes += rti_pages_to_bytes(tree->ctx, m->memory.look.swap_pages);
		reads->own_anon_bytes += rti_pages_to_bytes(tree->ctx, anon_pages);
		return;
	}
	reads->sharer_pages += anon_pages;
	reads->has_all_swap &= is_read || !m->memory.look.swap_pages;
	reads->swap_bytes +=
	    is_read ? pss->swap_bytes : rti_pages_to_bytes(tree->ctx, m->memory.look.swap_pages);
	if (!is_read || !pss->has_kinds) {
		reads->has_all = false;
		return;
	}
	reads->shared_anon_bytes += carry_on(tree->ctx, m, pss->anon_bytes, anon_pages);
	if (pss->at_ns == tree->now_ns) {
		reads->fresh_anon_bytes += carry_on(tree->ctx, m, pss->anon_bytes, anon_pages);
		reads->fresh_pages += anon_pages;
	}
	*drift = rti_min(*drift, pss->drift);
	reads->oldest_ns = rti_min(reads->oldest_ns, pss->at_ns);
}

void rti_memory_sum_reads(const struct rti_tree *tree, struct rti_memory_reads *out)
{
	uint64_t drift = tree->memory.drift;

	*out = (struct rti_memory_reads){ .has_all = true,
		                          .has_all_swap = true,
		                          .has_all_pss = true,
		                          .has_pss = tree->memory.reads_pss,
		                          .oldest_ns = tree->now_ns,
		                          .fresh_ns = tree->now_ns };
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		out->unknown += m->memory.is_unknown;
		out->known += m->memory.is_present;
		out->without_status += m->memory.is_present && m->memory.lacks_status;
		if (rti_memory_counts(&m->memory))
			add_member(tree, m, out, &drift);
	}
	out->has_all &= out->unknown == 0;
	out->doubt_bytes = rti_pages_to_bytes(tree->ctx, tree->memory.drift - drift);
	out->has_pss &= rti_reads_are_within_doubt(out);
}
