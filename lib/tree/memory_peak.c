/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#include "tree/memory_peak.h"

#include "tree/discovery.h"
#include "tree/member_read.h"
#include "tree/read_policy.h"

#define NEAR_PEAK 50 /* within a fiftieth of it */

static void raise_to(uint64_t *peak, uint64_t bytes)
{
	if (*peak < bytes)
		*peak = bytes;
}

bool rti_memory_peak_has_pss(const struct rti_tree *tree)
{
	const struct rti_peak_state *peaks = &tree->peaks;

	return peaks->tree_rss_bytes <=
	       peaks->rss_with_pss_bytes + peaks->rss_with_pss_bytes / NEAR_PEAK;
}

void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out)
{
	struct rti_peak_state *peaks = &tree->peaks;

	raise_to(&peaks->tree_rss_bytes, out->rss_bytes);
	/* PSS that was read at different times does not add up: other processes may have shared the
	 * memory in between. */
	if (out->pss_source == RT_PSS_READ) {
		raise_to(&peaks->tree_pss_bytes, out->pss_bytes);
		raise_to(&peaks->rss_with_pss_bytes, out->rss_bytes);
	}
	out->peak_tree_rss_bytes = peaks->tree_rss_bytes;
	out->peak_tree_pss_bytes = out->peak_tree_bytes = peaks->tree_pss_bytes;
}

/* Whether the budget allows to read the PSS of all members so many times. */
static bool can_afford(const struct rti_tree *tree, unsigned times, uint64_t rss_bytes)
{
	uint64_t cost_ns = times * rti_pss_predict_all(&tree->pss, tree->table.count, rss_bytes);

	return (int64_t)cost_ns <= tree->pss.saved_ns;
}

static void read_pss_of_all(struct rti_tree *tree, uint64_t rss_bytes)
{
	uint64_t pss_bytes = 0;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (m->poll.rss_bytes && rti_read_pss(tree, m, m->poll.rss_bytes) == 0)
			pss_bytes += m->values.pss.bytes;
	}
	raise_to(&tree->peaks.rss_with_pss_bytes, rss_bytes);
	raise_to(&tree->peaks.tree_pss_bytes, pss_bytes);
}

/* When a process writes to a page that it shares with an idle one, the page is copied. The PSS of
 * the idle process rises and its RSS does not. So where peaks are polled, all members are read if
 * enough budget is saved. */
static bool may_share_less(const struct rti_tree *tree, const struct rt_metrics *out)
{
	return tree->peaks.is_polled && out->pss_source == RT_PSS_CACHED &&
	       tree->pss.spent_ns == tree->sampled_ns && can_afford(tree, 2, out->rss_bytes);
}

void rti_memory_peak_confirm(struct rti_tree *tree, struct rt_metrics *out)
{
	bool is_due = !rti_memory_peak_has_pss(tree) && can_afford(tree, 1, out->rss_bytes);

	if (!(tree->want & RT_HAS_PSS) || !(is_due || may_share_less(tree, out)))
		return;
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		m->poll.rss_bytes = m->values.figures.row.rss_bytes;
	}
	read_pss_of_all(tree, out->rss_bytes);
	out->peak_tree_pss_bytes = tree->peaks.tree_pss_bytes;
}

/* Whether the RSS of the last poll will do for a member that has not run since. */
static bool is_poll_fresh(const struct rti_tree *tree, const struct rti_member *m)
{
	return !rti_stamp_is_older(&m->poll.read, tree->now_ns, RTI_WHILE_IDLE_NS);
}

static void ask_for_rss(const void *arg, const struct rti_member *m, struct rti_batch_request *out)
{
	const struct rti_tree *tree = arg;

	*out = (struct rti_batch_request){
		.pid = m->pid,
		.want = RTI_BATCH_RSS,
		.idle_ns = is_poll_fresh(tree, m) ? m->poll.read.clock_ns : 0,
	};
}

static void poll_member(struct rti_tree *tree, struct rti_member *m)
{
	uint64_t rss_bytes = 0;

	if (m->clock.is_known && m->clock.now.total_ns == m->poll.read.clock_ns &&
	    is_poll_fresh(tree, m))
		return;
	if (m->clock.row)
		rss_bytes = m->clock.row->rss_pages * tree->ctx->platform->page_size;
	else if (rti_read_rss(tree, m, &rss_bytes) < 0)
		rss_bytes = 0;
	m->poll.read = (struct rti_stamp){ tree->now_ns, m->clock.now.total_ns };
	m->poll.rss_bytes = rss_bytes;
}

void rti_memory_peak_poll(struct rti_tree *tree)
{
	uint64_t rss_bytes = 0;

	tree->peaks.is_polled = true;
	rti_discover_members(tree, ask_for_rss);
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (!m->read.account_at)
			rti_read_account(tree, m);
		if (!rti_is_supervisor(tree, m))
			poll_member(tree, m);
		rss_bytes += m->poll.rss_bytes;
	}
	raise_to(&tree->peaks.tree_rss_bytes, rss_bytes);
	if (tree->want & RT_HAS_PSS && !rti_memory_peak_has_pss(tree) &&
	    can_afford(tree, 1, rss_bytes))
		read_pss_of_all(tree, rss_bytes);
}
