/* SPDX-License-Identifier: MIT */
/* The footprint of a tree. */
#include "tree/member/footprint.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "util/arith.h"

/* A sum of reads that may have moved by less, as a part of it, is better than the model. */
#define USABLE_DOUBT 20
/* By how much statm and smaps_rollup may differ. */
#define SLACK_PAGES 16u

uint64_t rti_anon_read(const struct rti_memory_reads *reads)
{
	return reads->own_anon_bytes + reads->shared_anon_bytes;
}

static bool is_within(const struct rti_memory_reads *reads, uint64_t part)
{
	return reads->doubt_bytes <= rti_anon_read(reads) / part;
}

/* The truth may lie on either side. */
bool rti_reads_are_within_doubt(const struct rti_memory_reads *reads)
{
	return is_within(reads, 2 * RTI_MEMORY_DOUBT);
}

bool rti_reads_are_possible(const struct rti_memory_reads *reads,
                            const struct rti_memory_sums *sums, uint64_t page_size)
{
	uint64_t own = rti_multiply_saturated(sums->anon_pages_min, page_size),
		 most = rti_multiply_saturated(sums->anon_pages_max, page_size),
		 slack = SLACK_PAGES * page_size;

	if (reads->has_all && rti_anon_read(reads) + slack < own - own / RTI_MEMORY_DOUBT)
		return false;
	return rti_anon_read(reads) <=
	       rti_add_saturated(rti_add_saturated(most, most / RTI_MEMORY_DOUBT), slack);
}

/* What was read is off by no more than the sharing has moved since. Without a read of all that
 * share, the estimate is the model's. */
static struct rti_bounds find_anon(const struct rti_footprint_facts *facts, uint64_t *copied_bytes)
{
	const struct rti_memory_reads *reads = facts->reads;
	const struct rti_memory_sums *sums = facts->sums;
	struct rti_bounds anon = {
		.bytes = rti_multiply_saturated(sums->anon_pages, facts->page_size),
		.low = rti_multiply_saturated(sums->anon_pages_min, facts->page_size),
		.high = rti_multiply_saturated(sums->anon_pages_max, facts->page_size),
	};
	uint64_t read = rti_anon_read(reads), read_low, read_high;

	*copied_bytes = rti_multiply_saturated(sums->copied_pages, facts->page_size);
	/* Of these members or of others, and while this is read: PSS is the best that there is. */
	if (facts->is_merging) {
		anon.low = 0;
		anon.bytes = reads->has_all ? rti_clamp(read, anon.low, anon.high) : anon.bytes;
		return anon;
	}
	if (!reads->has_all || facts->has_outside_sharer)
		return anon;
	read_low = rti_subtract_saturated(read, reads->doubt_bytes);
	read_high = rti_add_saturated(read, reads->doubt_bytes);
	if (!rti_reads_are_possible(reads, sums, facts->page_size)) {
		/* Either may be wrong. */
		anon.low = rti_min(anon.low, read_low);
		anon.high = rti_max(anon.high, read_high);
		return anon;
	}
	anon.low = rti_max(anon.low, read_low);
	anon.high = rti_max(rti_min(anon.high, read_high), anon.low);
	if (is_within(reads, USABLE_DOUBT)) {
		anon.bytes = read;
		*copied_bytes = 0;
	}
	anon.bytes = rti_clamp(anon.bytes, anon.low, anon.high);
	return anon;
}

static bool is_exact(const struct rti_bounds *b)
{
	return b->high - b->low <= b->high / RTI_MEMORY_DOUBT;
}

static void add_mapped(const struct rti_footprint_facts *facts, enum rti_mapped_kind kind,
                       struct rti_bounds *to, uint64_t *part)
{
	const struct rti_mapped_sum *mapped = facts->mapped;
	uint64_t charged = kind == RTI_MAPPED_SHMEM ? facts->charged_shmem_bytes : 0,
		 high = rti_multiply_saturated(mapped->high[kind], facts->page_size),
		 low = rti_min(rti_multiply_saturated(mapped->low[kind], facts->page_size), high);

	*part = rti_clamp(rti_multiply_saturated(mapped->pages[kind], facts->page_size), low, high);
	*part = rti_max(*part, charged);
	to->bytes = rti_add_saturated(to->bytes, *part);
	to->low = rti_add_saturated(to->low, rti_max(low, charged));
	to->high = rti_add_saturated(to->high, rti_max(high, charged));
}

static double share_of(uint64_t part, uint64_t all)
{
	return part < all ? (double)part / (double)all : 1;
}

static int reason_of(const struct rti_footprint_facts *facts, bool is_needed_exact)
{
	const struct rti_memory_reads *reads = facts->reads;

	if (reads->error || facts->mapped_error)
		return reads->error ? reads->error : facts->mapped_error;
	/* Members have changed while they were read, or since then. */
	if (!is_needed_exact && reads->has_all && reads->doubt_bytes > 0 &&
	    !facts->has_outside_sharer)
		return reads->oldest_ns == facts->now_ns ? -EBUSY : -EDQUOT;
	return reads->has_all && !facts->lacks_reads ? -ENODATA : -EDQUOT;
}

struct rti_footprint rti_footprint_of(const struct rti_footprint_facts *facts)
{
	const struct rti_memory_reads *reads = facts->reads;
	struct rti_footprint out = {
		.is_known = reads->known > 0 || reads->unknown == 0,
		.rss_bytes = rti_multiply_saturated(facts->sums->rss_pages, facts->page_size),
		.swap = reads->swap_bytes,
		.oldest_ns = reads->has_all ? reads->oldest_ns : 0,
		.fresh_ns = reads->fresh_ns,
	};

	out.needed = find_anon(facts, &out.copied_bytes);
	out.suspected_bytes =
	    rti_add_saturated(out.copied_bytes, rti_multiply_saturated(facts->mapped->unread_shmem,
	                                                               facts->page_size));
	out.anon = out.needed.bytes;
	add_mapped(facts, RTI_MAPPED_SHMEM, &out.needed, &out.shmem);
	add_mapped(facts, RTI_MAPPED_HUGETLB, &out.needed, &out.hugetlb);
	out.all = out.needed;
	add_mapped(facts, RTI_MAPPED_FILE, &out.all, &out.file);
	out.file_high = rti_subtract_saturated(out.all.high, out.needed.high);
	out.anon_share = share_of(
	    rti_subtract_saturated(out.anon, reads->own_anon_bytes + reads->fresh_anon_bytes),
	    (reads->sharer_pages - reads->fresh_pages) * facts->page_size);
	out.mapped_share = share_of(out.file + out.shmem, reads->mapped_pages * facts->page_size);
	out.needed.bytes = rti_subtract_saturated(out.needed.bytes, reads->lazy_free_bytes);
	out.needed.low = rti_subtract_saturated(
	    out.needed.low, rti_add_saturated(reads->lazy_free_bytes, reads->unseen_bytes));
	if (reads->unknown || facts->has_skipped)
		out.all.high = out.needed.high = UINT64_MAX;
	out.is_exact = is_exact(&out.all) && reads->without_status == 0;
	out.is_needed_exact = is_exact(&out.needed) && reads->without_status == 0;
	/* Of forked members that were not read, each counts what all share. */
	out.is_swap_exact = reads->has_all_swap && reads->without_status + reads->unknown == 0;
	out.is_pss_read = reads->has_pss && reads->unknown == 0 && !facts->has_skipped;
	out.pss_bytes = reads->has_all_pss ? reads->pss_bytes : out.all.bytes;
	if (!out.is_exact || !out.is_needed_exact)
		out.error = reason_of(facts, out.is_needed_exact);
	return out;
}
