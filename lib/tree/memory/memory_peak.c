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

/* By which part, and by how many pages, what a member maps grows until its status is read. */
#define STATUS_PART 10
#define STATUS_PAGES 256

/* Most shared memory of so much and more is mapped once, but none of it need be. */
#define SHMEM_ONCE_MAX (UINT64_C(4) << 20)

static void raise_to(uint64_t *peak, uint64_t bytes)
{
	if (*peak < bytes)
		*peak = bytes;
}

static void raise_peak(struct rti_peak *peak, uint64_t bytes, bool is_exact)
{
	if (peak->bounds.bytes >= bytes)
		return;
	peak->bounds.bytes = bytes;
	peak->is_exact = is_exact;
}

/* A sum at one moment. */
struct seen {
	struct rti_bounds now;
	uint64_t suspected_bytes; /* the part of it that a read may refute */
	uint64_t most;            /* it is no more than that; UINT64_MAX: unknown */
	bool is_exact;
	bool has_corrected; /* a read has corrected what was suspected before */
	bool has_left; /* a member has ended, of which what was suspected can be read no more */
};

static uint64_t limit_to(uint64_t bytes, const struct seen *seen)
{
	return rti_max(rti_min(bytes, seen->most), seen->now.low);
}

static uint64_t confirmed_bytes(const struct seen *seen)
{
	return limit_to(rti_subtract_saturated(seen->now.bytes, seen->suspected_bytes), seen);
}

/* An estimate that rests on copies raises the peak only if they were read, or if a member has ended
 * before that was possible. Until then it raises the upper bound, which a read may lower again.
 * E.g.: a pool was estimated at 800 MiB, of which 390 MiB are copies. Then it is read: 410 MiB. */
static void take_bounds(struct rti_peak *peak, const struct seen *seen)
{
	if (seen->has_corrected)
		peak->suspected = 0;
	if (seen->suspected_bytes > 0) {
		raise_to(&peak->suspected, limit_to(seen->now.bytes, seen));
		raise_to(&peak->suspected_high, seen->now.high);
	} else {
		raise_to(&peak->bounds.high, seen->now.high);
	}
	if (seen->has_left) {
		raise_peak(peak, peak->suspected, false);
		raise_to(&peak->bounds.high, peak->suspected_high);
	}
	if (seen->has_left || seen->suspected_bytes == 0)
		peak->suspected = peak->suspected_high = 0;
	raise_peak(peak, confirmed_bytes(seen), seen->is_exact && seen->suspected_bytes == 0);
	raise_to(&peak->bounds.low, seen->now.low);
}

/* What was suspected can be read no more. */
static void keep_high(struct rti_peak *peak)
{
	raise_to(&peak->bounds.high, peak->suspected_high);
}

/* Set how much an estimate can be at most: what the tree's own cgroup was charged for, and the
 * files that others may have been charged for. E.g.: copies were estimated at 180 MiB, and the
 * cgroup was charged for none of them. */
static void find_most(struct rti_tree *tree, struct seen *all, struct seen *needed)
{
	const struct rti_footprint *moment = &tree->memory.moment;
	const struct rti_cgroup *cgroup = &tree->supervised.cgroup;
	uint64_t *charged_bytes = &tree->peaks.charged_bytes,
		 elsewhere = rti_add_saturated(moment->hugetlb, moment->file_high);

	if ((all->is_exact && needed->is_exact) || cgroup->left & RTI_CGROUP_MEMORY ||
	    (moment->all.bytes <= rti_add_saturated(*charged_bytes, elsewhere) &&
	     moment->needed.bytes <= rti_add_saturated(*charged_bytes, moment->hugetlb)) ||
	    rti_cgroup_read_memory_peak(cgroup, tree->ctx, charged_bytes) < 0)
		return;
	all->most = rti_add_saturated(*charged_bytes, elsewhere);
	needed->most = rti_add_saturated(*charged_bytes, moment->hugetlb);
}

/* The parts are those of the largest footprint but for what is only suspected. */
static void keep_parts(struct rti_footprint *largest, const struct rti_footprint *moment,
                       const struct seen *all)
{
	uint64_t bytes = confirmed_bytes(all);

	if (bytes <= largest->all.bytes)
		return;
	*largest = *moment;
	largest->all.bytes = bytes;
	largest->anon -= rti_min(moment->copied_bytes, moment->anon);
	largest->shmem -= rti_min(moment->suspected_bytes - moment->copied_bytes, moment->shmem);
}

bool rti_memory_counts_once(const struct rti_tree *tree)
{
	return tree->memory.repeated_bytes == 0 && tree->memory.shmem_max_bytes < SHMEM_ONCE_MAX;
}

/* What marks have of one moment besides its sums: members that have memory, and their largest. */
struct members {
	uint64_t count, rss_bytes, high_bytes; /* high: VmHWM as it was read last */
};

static struct members look_over(const struct rti_tree *tree)
{
	uint64_t page_size = tree->ctx->platform->page_size;
	struct members members = { 0 };

	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		if (!m->memory.is_present || m->pid == tree->supervised.pid)
			continue;
		members.count++;
		raise_to(&members.rss_bytes, m->memory.look.rss_pages * page_size);
		raise_to(&members.high_bytes, m->values.peak_rss_bytes);
	}
	return members;
}

void rti_memory_raise_mark(const struct rti_tree *tree, struct rti_peak_mark *mark,
                           uint64_t rss_bytes)
{
	raise_to(&mark->rss_bytes, rss_bytes);
	if (tree->memory.is_modelled && rti_memory_counts_once(tree))
		raise_peak(&mark->all, mark->rss_bytes, true);
}

/* Take a moment into all marks. NULL: memory is not modelled. */
static void take_into_marks(const struct rti_tree *tree, const struct seen *all,
                            const struct seen *needed)
{
	struct members members;

	if (tree->peaks.mark_count == 0)
		return;
	members = look_over(tree);
	for (size_t i = 0; i < RTI_MARKS_MAX; i++) {
		struct rti_peak_mark *mark = &tree->peaks.marks[i];

		if (!mark->id)
			continue;
		if (all) {
			take_bounds(&mark->all, all);
			take_bounds(&mark->needed, needed);
		}
		raise_to(&mark->processes, members.count);
		rti_memory_raise_mark(tree, mark,
		                      members.high_bytes > mark->before_bytes
		                          ? rti_max(members.high_bytes, members.rss_bytes)
		                          : members.rss_bytes);
	}
}

static void take_moment(struct rti_tree *tree)
{
	const struct rti_footprint *moment = &tree->memory.moment;
	struct rti_peak_state *peaks = &tree->peaks;
	struct seen all = {
		.now = moment->all,
		.suspected_bytes = moment->suspected_bytes,
		.most = UINT64_MAX,
		.is_exact = moment->is_exact,
		.has_corrected = tree->memory.has_corrected,
		.has_left = tree->memory.has_left,
	};
	struct seen needed = all;

	tree->memory.has_left = tree->memory.has_corrected = false;
	raise_to(&peaks->rss_bytes, moment->rss_bytes);
	if (!tree->memory.is_modelled) {
		take_into_marks(tree, NULL, NULL);
		return;
	}
	needed.now = moment->needed;
	needed.is_exact = moment->is_needed_exact;
	find_most(tree, &all, &needed);
	keep_parts(&peaks->parts, moment, &all);
	take_into_marks(tree, &all, &needed);
	if (tree->memory.has_unmapped) {
		keep_high(&peaks->all);
		keep_high(&peaks->needed);
	}
	tree->memory.has_unmapped = false;
	raise_to(&peaks->pss_bytes, moment->is_pss_read ? moment->pss_bytes : 0);
	take_bounds(&peaks->all, &all);
	take_bounds(&peaks->needed, &needed);
	/* No poll saw the peak of the largest member, which the kernel knows. */
	if (rti_memory_counts_once(tree))
		raise_peak(&peaks->all, tree->peak_rss_bytes, true);
}

static void set_peak(const struct rti_peak *peak, uint64_t *bytes, uint64_t *low, uint64_t *high)
{
	*bytes = peak->bounds.bytes;
	*low = peak->bounds.low;
	*high = rti_max(rti_max(peak->bounds.high, peak->suspected_high), *bytes);
}

void rti_peak_note(const struct rti_peak *peak, uint64_t has, uint64_t *partial,
                   uint64_t *estimated)
{
	if (peak->bounds.bytes > 0)
		*(peak->is_exact ? partial : estimated) |= has;
}

void rti_memory_peak_update(struct rti_tree *tree, struct rt_metrics *out)
{
	struct rti_peak_state *peaks = &tree->peaks;

	take_moment(tree);
	out->peak_tree_rss_bytes = peaks->rss_bytes;
	out->peak_tree_pss_bytes = peaks->pss_bytes;
	if (peaks->rss_bytes == 0)
		return;
	if (tree->want & RT_HAS_PEAK_FOOTPRINT) {
		set_peak(&peaks->all, &out->peak_footprint_bytes, &out->peak_footprint_low_bytes,
		         &out->peak_footprint_high_bytes);
		out->peak_tree_bytes = out->peak_footprint_bytes;
		rti_peak_note(&peaks->all, RT_HAS_PEAK_FOOTPRINT, &out->partial, &out->estimated);
	}
	if (tree->want & RT_HAS_PEAK_NEEDED) {
		set_peak(&peaks->needed, &out->peak_needed_bytes, &out->peak_needed_low_bytes,
		         &out->peak_needed_high_bytes);
		rti_peak_note(&peaks->needed, RT_HAS_PEAK_NEEDED, &out->partial, &out->estimated);
	}
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
		.want = RTI_BATCH_RSS | RTI_BATCH_PEAK,
		.idle_ns = is_poll_fresh(tree->now_ns, m) ? m->polled.clock_ns : 0,
		.idle_rss_pages = RTI_BATCH_ANY_RSS,
	};
}

static void look_at_row(const struct rti_batch_row *row, struct rti_memory_look *out)
{
	out->rss_pages = row->rss_pages;
	out->shared_pages = row->shared_pages;
	out->size_pages = row->size_pages;
	out->shmem_pages = row->shmem_pages;
	out->swap_pages = row->swap_pages;
	out->hugetlb_pages = row->hugetlb_pages;
	out->faults = row->minflt;
	out->stack = row->stack;
	out->is_forked = row->has & RTI_BATCH_FORKED;
}

/* What statm does not tell apart may be shared memory: status does, when it grew by a tenth. */
static void look_at_status(struct rti_tree *tree, struct rti_member *m, struct rti_memory_look *out)
{
	uint64_t before = m->memory.look.shared_pages,
		 page_kib = tree->ctx->platform->page_size / 1024;
	struct rti_pid_status status;

	if (out->shared_pages <= before + before / STATUS_PART + STATUS_PAGES ||
	    rti_read_status(tree, m, &status) < 0)
		return;
	out->shmem_pages = status.rss_shmem_kib / page_kib;
	out->swap_pages = status.swap_kib / page_kib;
	out->hugetlb_pages = status.hugetlb_kib / page_kib;
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
	if (err == 0)
		look_at_status(tree, m, out);
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
	take_moment(tree);
}

void rti_memory_peak_poll_all(struct rti_tree *tree)
{
	for (size_t i = 0; i < tree->table.count; i++)
		tree->table.members[i].polled = (struct rti_stamp){ 0 };
	rti_memory_peak_poll(tree);
}
