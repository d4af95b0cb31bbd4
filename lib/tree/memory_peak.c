/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#include "tree/memory_peak.h"

#include "tree/discovery.h"
#include "tree/member_read.h"

#define NEAR_PEAK 50 /* a fiftieth of it */

static void raise_to(uint64_t *peak, uint64_t bytes)
{
	if (*peak < bytes)
		*peak = bytes;
}

bool rti_memory_peak_has_pss(const struct rti_tree *tree)
{
	return tree->peak_tree_rss_bytes <=
	       tree->rss_with_pss_bytes + tree->rss_with_pss_bytes / NEAR_PEAK;
}

void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out)
{
	raise_to(&tree->peak_tree_rss_bytes, out->rss_bytes);
	/* What was read at different times does not add up: memory may have been shared by more
	 * in between. */
	if (out->pss_source == RT_PSS_READ) {
		raise_to(&tree->peak_tree_pss_bytes, out->pss_bytes);
		raise_to(&tree->rss_with_pss_bytes, out->rss_bytes);
	}
	out->peak_tree_rss_bytes = tree->peak_tree_rss_bytes;
	out->peak_tree_pss_bytes = tree->peak_tree_pss_bytes;
}

static bool can_afford(const struct rti_tree *tree, unsigned times, uint64_t rss_bytes)
{
	uint64_t cost_ns = times * rti_pss_predict_all(&tree->pss, tree->table.count, rss_bytes);

	return (int64_t)cost_ns <= tree->pss.saved_ns;
}

/* What the sum of PSS is now. */
static void read_pss_of_all(struct rti_tree *tree, const struct rti_context *ctx,
                            uint64_t rss_bytes)
{
	uint64_t pss_bytes = 0;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (m->poll_rss_bytes && rti_read_pss(tree, ctx, m, m->poll_rss_bytes) == 0)
			pss_bytes += m->pss.bytes;
	}
	raise_to(&tree->rss_with_pss_bytes, rss_bytes);
	raise_to(&tree->peak_tree_pss_bytes, pss_bytes);
}

/* Who writes to memory that he shares with somebody who does not run leaves him more of his own,
 * and RSS does not tell. For those who look for peaks, all are read then, as long as enough is
 * saved up. */
static bool may_share_less(const struct rti_tree *tree, const struct rt_metrics *out)
{
	return tree->is_peak_polled && out->pss_source == RT_PSS_CACHED &&
	       tree->pss.spent_ns == tree->sampled_ns && can_afford(tree, 2, out->rss_bytes);
}

void rti_memory_peak_confirm(struct rti_tree *tree, const struct rti_context *ctx,
                             struct rt_metrics *out)
{
	bool is_due = !rti_memory_peak_has_pss(tree) && can_afford(tree, 1, out->rss_bytes);

	if (!(tree->want & RT_HAS_PSS) || !(is_due || may_share_less(tree, out)))
		return;
	for (size_t i = 0; i < tree->table.count; i++)
		tree->table.members[i].poll_rss_bytes = tree->table.members[i].figures.rss_bytes;
	read_pss_of_all(tree, ctx, out->rss_bytes);
	out->peak_tree_pss_bytes = tree->peak_tree_pss_bytes;
}

void rti_memory_peak_poll(struct rti_tree *tree, const struct rti_context *ctx)
{
	uint64_t rss_bytes = 0;

	tree->is_peak_polled = true;
	rti_tree_note_time(tree, ctx->platform->monotonic_ns());
	tree->table.batch_reader.plan = (struct rti_batch_plan){ rti_request_peak_poll, tree };
	rti_discover_members(&tree->table, ctx);
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (!m->account_at)
			rti_read_account(tree, ctx, m);
		if (m->pid != tree->supervisor_pid)
			m->poll_rss_bytes = rti_read_rss(tree, ctx, m);
		rss_bytes += m->poll_rss_bytes;
	}
	raise_to(&tree->peak_tree_rss_bytes, rss_bytes);
	if (tree->want & RT_HAS_PSS && !rti_memory_peak_has_pss(tree) &&
	    can_afford(tree, 1, rss_bytes))
		read_pss_of_all(tree, ctx, rss_bytes);
}
