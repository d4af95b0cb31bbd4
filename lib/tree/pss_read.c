/* SPDX-License-Identifier: MIT */
/* The PSS of members: which ones to read now, and what is known of them since. */
#include "tree/pss_read.h"

#include <errno.h>

#include "collect/pid_mm.h"
#include "tree/member_read.h"
#include "tree/state.h"
#include "util/saturate.h"

#define FEW_PAGES 256u
#define RETRY_NS 1000000000u /* of what could not be read */

static uint64_t to_bytes(const struct rti_tree *tree, uint64_t pages)
{
	return pages * tree->ctx->platform->page_size;
}

static bool has_memory(const struct rti_member *m)
{
	return m->memory.is_present && !m->memory.has_parents_space;
}

static bool is_unreadable(const struct rti_tree *tree, const struct rti_pss_part *pss)
{
	return pss->error < 0 && tree->now_ns - pss->tried_at_ns < RETRY_NS;
}

static bool has_no_limit(const struct rti_tree *tree)
{
	return tree->pss_budget.share >= RTI_PSS_NO_LIMIT;
}

static bool has_run_since(const struct rti_member *m)
{
	return !m->clock.is_known || m->pss.clock_ns != m->clock.now.total_ns ||
	       m->pss.rss_pages != m->memory.look.rss_pages;
}

/* drift: reads up to then are no longer good. */
static bool is_due(const struct rti_tree *tree, const struct rti_member *m, uint64_t drift)
{
	const struct rti_pss_part *pss = &m->pss;

	if (!has_memory(m) || is_unreadable(tree, pss))
		return false;
	if (!pss->at_ns)
		return true;
	if (has_no_limit(tree) && has_run_since(m))
		return pss->at_ns != tree->now_ns;
	return pss->drift < drift || tree->now_ns - pss->at_ns >= RTI_PSS_REFRESH_NS;
}

static uint64_t cost_of(const struct rti_tree *tree, const struct rti_member *m)
{
	return rti_pss_predict(&tree->pss_budget, to_bytes(tree, m->memory.look.rss_pages));
}

/* RSS when PSS was read. statm may be off by the pages that each CPU has yet to add. So it is only
 * replaced if the process has grown or shrunk meanwhile. */
static uint64_t rss_then(const struct rti_tree *tree, const struct rti_member *m,
                         const struct rti_smaps_rollup *rollup)
{
	uint64_t before = m->memory.look.rss_pages,
		 then = rollup->rss_kib * 1024 / tree->ctx->platform->page_size;
	bool has_changed = then > before + FEW_PAGES || before > then + FEW_PAGES;

	return has_changed ? then : before;
}

static void store_read(struct rti_tree *tree, struct rti_member *m, int err,
                       const struct rti_smaps_rollup *rollup)
{
	struct rti_pss_part *pss = &m->pss;

	pss->error = err;
	pss->tried_at_ns = tree->now_ns;
	if (err < 0)
		return;
	pss->at_ns = tree->now_ns;
	pss->pss_bytes = rollup->pss_kib * 1024;
	pss->anon_bytes = rollup->pss_anon_kib * 1024;
	pss->has_kinds = rollup->has_kinds;
	pss->drift = tree->memory.drift;
	pss->rss_pages = rss_then(tree, m, rollup);
	pss->clock_ns = m->clock.now.total_ns;
}

static void read_member(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_platform *platform = tree->ctx->platform;
	uint64_t rss_bytes = to_bytes(tree, m->memory.look.rss_pages);
	uint64_t started_ns = platform->thread_cpu_ns();
	struct rti_smaps_rollup rollup;
	int err = rti_read_rollup(tree, m, &rollup);

	rti_pss_spend(&tree->pss_budget, rss_bytes, platform->thread_cpu_ns() - started_ns);
	store_read(tree, m, err, &rollup);
	rti_note_change(tree);
}

/* The pages that a member has copied while the members were read. They count as read, and will be
 * counted as faults. */
static uint64_t faults_meanwhile(struct rti_tree *tree, struct rti_member *m)
{
	if (m->clock.row || !rti_memory_needs_stat(tree, m) || rti_read_member_stat(tree, m) < 0)
		return 0;
	return rti_subtract_saturated(m->stat.minflt, m->memory.look.faults);
}

/* The file is opened by pid. A member that is there when all have been read has had the pid all the
 * time. If one has ended meanwhile, or has copied pages, the others were not all read while they
 * shared with it. */
static void check_members(struct rti_tree *tree)
{
	uint64_t faults = 0;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		struct rti_pid_statm statm;

		if (!has_memory(m))
			continue;
		faults += faults_meanwhile(tree, m);
		if (m->pss.at_ns != tree->now_ns || m->pss.error < 0)
			continue;
		if (rti_read_statm(tree, m, &statm) < 0 || statm.resident_pages == 0)
			m->pss.error = -ESRCH;
	}
	tree->memory.drift += faults;
}

/* What reading all that is due would cost; can_have_all is cleared if some of it must not be
 * read. */
static uint64_t cost_of_due(const struct rti_tree *tree, uint64_t drift, bool *can_have_all)
{
	uint64_t cost_ns = 0;

	*can_have_all = true;
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		uint64_t one_ns;

		if (!is_due(tree, m, drift))
			continue;
		one_ns = cost_of(tree, m);
		if (rti_pss_is_short(&tree->pss_budget, one_ns))
			cost_ns += one_ns;
		else
			*can_have_all = false;
	}
	return cost_ns;
}

/* Read what is due, from where the last round ended, for as long as limit_ns lasts. */
static bool read_some(struct rti_tree *tree, uint64_t drift, uint64_t limit_ns)
{
	size_t count = tree->table.count, first = tree->memory.next_read;
	bool has_read = false;

	for (size_t i = 0; i < count; i++) {
		struct rti_member *m = &tree->table.members[(first + i) % count];
		uint64_t cost_ns = cost_of(tree, m);

		if (!is_due(tree, m, drift) || !rti_pss_is_short(&tree->pss_budget, cost_ns))
			continue;
		if (cost_ns > limit_ns)
			break;
		limit_ns -= cost_ns;
		tree->memory.next_read = (first + i + 1) % count;
		read_member(tree, m);
		has_read = true;
	}
	if (has_read)
		check_members(tree);
	return has_read;
}

/* Reads become doubtful together: what one member shares less, another has more of. So all of them
 * are read, or, if that can never be paid for, a few. */
bool rti_pss_read_due(struct rti_tree *tree)
{
	const struct rti_pss_budget *budget = &tree->pss_budget;
	uint64_t saved_max_ns = rti_pss_saved_max_ns(budget), drift = tree->memory.drift, cost_ns;
	struct rti_pss_sum sum;
	bool can_have_all;

	rti_pss_sum(tree, &sum);
	if (tree->memory.needs_fresh_reads)
		drift = UINT64_MAX;
	else if (rti_pss_is_within_doubt(&sum) && !has_no_limit(tree))
		drift = 0; /* only what was never read, or not for long */
	cost_ns = cost_of_due(tree, drift, &can_have_all);
	if (cost_ns == 0)
		return false;
	if (rti_pss_can_afford(budget, cost_ns))
		return read_some(tree, drift, UINT64_MAX);
	can_have_all &= cost_ns <= saved_max_ns;
	if (can_have_all || !rti_pss_can_afford(budget, saved_max_ns / 2)) {
		tree->memory.next_try_ns =
		    tree->now_ns +
		    rti_pss_wait_ns(budget, can_have_all ? cost_ns : saved_max_ns / 2);
		return false;
	}
	return read_some(tree, drift, saved_max_ns / 2);
}

/* What was read, moved by the change of RSS since. */
static uint64_t carry_on(const struct rti_tree *tree, const struct rti_member *m, uint64_t bytes)
{
	uint64_t then = to_bytes(tree, m->pss.rss_pages),
		 now = to_bytes(tree, m->memory.look.rss_pages);

	bytes = rti_subtract_saturated(bytes + rti_subtract_saturated(now, then),
	                               rti_subtract_saturated(then, now));
	return bytes < now ? bytes : now;
}

uint64_t rti_pss_now(const struct rti_tree *tree, const struct rti_member *m)
{
	return carry_on(tree, m, m->pss.pss_bytes);
}

static void add_member(const struct rti_tree *tree, const struct rti_member *m,
                       struct rti_pss_sum *sum, uint64_t *drift)
{
	const struct rti_pss_part *pss = &m->pss;

	if (!sum->error && is_unreadable(tree, pss))
		sum->error = pss->error;
	if (!pss->at_ns || pss->error < 0) {
		sum->has_all = false;
		return;
	}
	sum->bytes += rti_pss_now(tree, m);
	sum->anon_bytes += carry_on(tree, m, pss->anon_bytes);
	sum->has_kinds &= pss->has_kinds;
	if (*drift > pss->drift)
		*drift = pss->drift;
	if (sum->oldest_ns > pss->at_ns)
		sum->oldest_ns = pss->at_ns;
}

void rti_pss_sum(const struct rti_tree *tree, struct rti_pss_sum *out)
{
	uint64_t drift = tree->memory.drift;

	*out =
	    (struct rti_pss_sum){ .has_all = true, .has_kinds = true, .oldest_ns = tree->now_ns };
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		out->unknown += m->memory.is_unknown;
		out->known += m->memory.is_present;
		if (has_memory(m))
			add_member(tree, m, out, &drift);
	}
	out->has_all &= out->unknown == 0;
	out->doubt_bytes = to_bytes(tree, tree->memory.drift - drift);
}

bool rti_pss_is_within_doubt(const struct rti_pss_sum *sum)
{
	return sum->doubt_bytes <= sum->bytes / RTI_PSS_DOUBT;
}
