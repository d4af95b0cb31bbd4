/* SPDX-License-Identifier: MIT */
/* The largest sums of memory that a tree has held, at samples and between them. */
#include "tree/memory/memory_peak.h"

#include <errno.h>

#include "tree/exits/usage_post.h"
#include "tree/memory/memory.h"
#include "tree/memory/memory_note.h"
#include "tree/read/member_read.h"
#include "tree/read/member_row.h"
#include "tree/scan/discovery.h"
#include "tree/state/read_policy.h"
#include "util/arith.h"

static void raise_to(uint64_t *peak, uint64_t bytes)
{
	if (*peak < bytes)
		*peak = bytes;
}

static void raise_peak(struct rti_peak_state *peaks, uint64_t bytes, bool is_read)
{
	if (peaks->bytes >= bytes)
		return;
	peaks->bytes = bytes;
	peaks->is_read = is_read;
}

/* What was read has shown how many copies are none, and how much of their files the members share
 * with others. So it was at the recent peak, too. E.g.: a pool was estimated at 800 MiB, of which
 * 390 MiB are copies. Then it is read: 410 MiB. */
static void settle_estimates(struct rti_peak_state *peaks, const struct rti_memory_state *memory)
{
	uint64_t copies = rti_min(memory->excess_copied_bytes, peaks->recent_copied_bytes),
		 files = rti_min(memory->excess_file_bytes, peaks->recent_file_bytes);

	raise_peak(peaks, rti_subtract_saturated(peaks->recent_bytes, copies + files), false);
	raise_peak(peaks, rti_subtract_saturated(peaks->recent_least_bytes, files), false);
	peaks->recent_bytes = peaks->recent_least_bytes = 0;
	peaks->recent_copied_bytes = peaks->recent_file_bytes = 0;
}

static void take_estimate(struct rti_peak_state *peaks, const struct rti_memory_moment *moment)
{
	raise_to(&peaks->recent_least_bytes,
	         rti_subtract_saturated(moment->bytes, moment->copied_bytes));
	if (peaks->recent_bytes >= moment->bytes)
		return;
	peaks->recent_bytes = moment->bytes;
	peaks->recent_copied_bytes = moment->copied_bytes;
	peaks->recent_file_bytes = moment->file_bytes;
}

static void take_moment(struct rti_peak_state *peaks, const struct rti_memory_state *memory)
{
	const struct rti_memory_moment *moment = &memory->moment;

	raise_to(&peaks->rss_bytes, moment->rss_bytes);
	raise_to(&peaks->low_bytes, moment->low_bytes);
	raise_to(&peaks->shared_max_bytes, moment->shared_max_bytes);
	if (memory->was_calibrated)
		settle_estimates(peaks, memory);
	if (moment->is_exact) {
		raise_to(&peaks->read_bytes, moment->bytes);
		raise_peak(peaks, moment->bytes, true);
	} else {
		take_estimate(peaks, moment);
	}
	raise_peak(peaks, peaks->low_bytes, false);
}

void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out)
{
	struct rti_peak_state *peaks = &tree->peaks;

	take_moment(peaks, &tree->memory);
	out->peak_tree_rss_bytes = peaks->rss_bytes;
	out->peak_tree_pss_bytes = peaks->read_bytes;
	if (!(tree->want & RT_HAS_PEAK_TREE) || peaks->rss_bytes == 0)
		return;
	out->peak_tree_bytes = rti_memory_peak_bytes(peaks);
	if (peaks->is_read && peaks->bytes >= peaks->recent_bytes)
		out->partial |= RT_HAS_PEAK_TREE;
	else
		out->estimated |= RT_HAS_PEAK_TREE;
}

/* Whether the last poll will do for a member that has not run since. */
static bool is_poll_fresh(uint64_t now_ns, const struct rti_member *m)
{
	return !rti_stamp_is_older(&m->polled, now_ns, RTI_WHILE_IDLE_NS);
}

static void ask_for_rss(const void *arg, const struct rti_member *m, struct rti_batch_request *out)
{
	const struct rti_tree *tree = arg;

	*out = (struct rti_batch_request){
		.pid = m->pid,
		.want = RTI_BATCH_RSS,
		.idle_ns = is_poll_fresh(tree->now_ns, m) ? m->polled.clock_ns : 0,
		.idle_rss_pages = RTI_BATCH_ANY_RSS,
	};
}

static void look_at_row(const struct rti_batch_row *row, struct rti_memory_look *out)
{
	out->rss_pages = row->rss_pages;
	out->shared_pages = row->shared_pages;
	out->size_pages = row->size_pages;
	out->faults = row->minflt;
	out->stack = row->stack;
	out->is_forked = row->has & RTI_BATCH_FORKED;
}

/* Faults matter only of members that share anonymous pages. Returns 0, or -errno if the files
 * cannot be read: then nothing new is known. */
static int look_at_files(struct rti_tree *tree, struct rti_member *m, struct rti_memory_look *out)
{
	int err = rti_memory_look_again(tree, m, out);

	out->is_torn = false; /* it was compared with an older look */
	if (err == 0 && rti_memory_needs_stat(&tree->memory, m)) {
		err = rti_read_member_stat(tree, m);
		if (err == 0)
			err = rti_memory_look_again(tree, m, out);
	}
	if (err == -ESRCH) {
		*out = (struct rti_memory_look){ 0 };
		return 0;
	}
	out->faults = m->stat.minflt;
	out->stack = m->stat.stack;
	out->is_forked = m->stat.flags & RTI_PF_FORKNOEXEC;
	return err;
}

static void poll_member(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_memory_look look = m->memory.look;

	look.is_late = look.is_torn = false;
	if (m->clock.is_known && m->clock.now.total_ns == m->polled.clock_ns &&
	    is_poll_fresh(tree->now_ns, m))
		return;
	rti_rows_keep(tree);
	if (m->clock.row)
		look_at_row(m->clock.row, &look);
	else if (look_at_files(tree, m, &look) < 0)
		return;
	m->polled = (struct rti_stamp){ tree->now_ns, m->clock.now.total_ns };
	tree->peak_rss_bytes =
	    rti_max(tree->peak_rss_bytes, look.rss_pages * tree->ctx->platform->page_size);
	rti_memory_note(tree, m, &look);
}

void rti_memory_peak_poll(struct rti_tree *tree)
{
	rti_discover_members(tree, ask_for_rss);
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (m->pid != tree->supervised.pid)
			poll_member(tree, m);
		rti_post_usage(tree, m);
	}
	rti_memory_poll(tree);
	take_moment(&tree->peaks, &tree->memory);
}
