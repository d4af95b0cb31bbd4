/* SPDX-License-Identifier: MIT */
/* How much memory a tree holds, by what was read of PSS and by the model. */
#include "tree/member/memory_judge.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "util/arith.h"

/* A sum of reads that may have moved by less, as a part of it, is better than the model. */
#define USABLE_DOUBT 20
/* By how much statm and smaps_rollup may differ. */
#define SLACK_PAGES 16u
/* What is older is not exact: processes outside the tree change what is shared, too. */
#define OLDEST_NS (3 * RTI_PSS_REFRESH_NS)

static bool is_within(const struct rti_pss_sum *read, uint64_t part)
{
	return read->doubt_bytes <= read->bytes / part;
}

bool rti_memory_is_within_doubt(const struct rti_pss_sum *read)
{
	return is_within(read, RTI_PSS_DOUBT);
}

uint64_t rti_memory_good_until_ns(const struct rti_pss_sum *read)
{
	bool is_alone = rti_add_saturated(read->doubt_bytes, read->outside_bytes) <=
	                read->bytes / RTI_PSS_DOUBT;

	return read->oldest_ns + (is_alone ? OLDEST_NS : RTI_PSS_OUTSIDE_NS);
}

bool rti_memory_is_possible(const struct rti_pss_sum *read, const struct rti_memory_sums *sums,
                            uint64_t page_size)
{
	uint64_t own = rti_multiply_saturated(sums->anon_pages_min, page_size),
		 most = rti_multiply_saturated(sums->anon_pages_max, page_size);
	uint64_t slack = SLACK_PAGES * page_size;

	if (!read->has_kinds)
		return true;
	if (read->has_all && read->anon_bytes + slack < own - own / RTI_PSS_DOUBT)
		return false;
	return read->anon_bytes <=
	       rti_add_saturated(rti_add_saturated(most, most / RTI_PSS_DOUBT), slack);
}

static bool is_exact(const struct rti_memory_facts *facts)
{
	const struct rti_pss_sum *read = facts->read;

	if (facts->is_contradicted || !read->has_all || !rti_memory_is_within_doubt(read) ||
	    facts->now_ns > rti_memory_good_until_ns(read))
		return false;
	return read->oldest_ns == facts->now_ns || !facts->needs_fresh_reads;
}

/* Whether what was read is the better estimate. What processes outside of the tree share shows in
 * no other way. */
static bool is_usable(const struct rti_memory_facts *facts)
{
	if (facts->is_contradicted || !facts->read->has_all)
		return false;
	return is_within(facts->read, USABLE_DOUBT) || facts->needs_fresh_reads;
}

/* What no two processes can share. Others may share all of it if they share with the tree at
 * all. */
static uint64_t low_pages(const struct rti_memory_facts *facts)
{
	const struct rti_memory_sums *sums = facts->sums;

	if (facts->needs_fresh_reads)
		return 0;
	return facts->has_outside_shmem
	           ? sums->anon_pages_min
	           : rti_add_saturated(sums->anon_pages_min, sums->shmem_pages_max);
}

static uint64_t high_pages(const struct rti_memory_facts *facts)
{
	const struct rti_memory_sums *sums = facts->sums;

	if (facts->read->unknown || facts->has_skipped)
		return UINT64_MAX;
	return rti_add_saturated(sums->anon_pages_max, sums->shared_pages);
}

static int reason_of(const struct rti_memory_facts *facts)
{
	if (facts->read->error)
		return facts->read->error;
	/* Members have changed while they were read. */
	if (facts->is_contradicted ||
	    (facts->read->has_all && facts->read->oldest_ns == facts->now_ns))
		return -EBUSY;
	return -EDQUOT;
}

static void set_exact(const struct rti_memory_facts *facts, struct rti_memory_moment *out)
{
	const struct rti_pss_sum *read = facts->read;

	out->is_exact = out->is_known = true;
	out->bytes = out->low_bytes = read->bytes;
	out->high_bytes = facts->has_skipped ? UINT64_MAX : read->bytes;
	out->source = read->oldest_ns == facts->now_ns ? RT_PSS_READ : RT_PSS_CACHED;
	out->oldest_ns = read->oldest_ns;
	out->exact_until_ns = rti_memory_good_until_ns(read);
}

static void set_estimate(const struct rti_memory_facts *facts, struct rti_memory_moment *out)
{
	const struct rti_pss_sum *read = facts->read;
	uint64_t of_model = rti_multiply_saturated(
	    rti_add_saturated(facts->sums->anon_pages, facts->file_pages), facts->page_size);
	bool is_by_read = is_usable(facts);

	out->is_known = read->known > 0 || read->unknown == 0;
	out->low_bytes = rti_multiply_saturated(low_pages(facts), facts->page_size);
	out->high_bytes = rti_multiply_saturated(high_pages(facts), facts->page_size);
	out->bytes =
	    rti_clamp(is_by_read ? read->bytes : of_model, out->low_bytes, out->high_bytes);
	if (!is_by_read) {
		out->copied_bytes =
		    rti_multiply_saturated(facts->sums->copied_pages, facts->page_size);
		out->file_bytes = rti_multiply_saturated(facts->file_pages, facts->page_size);
	}
	out->source = RT_PSS_ESTIMATED;
	out->oldest_ns = read->has_all ? read->oldest_ns : 0;
	out->error = reason_of(facts);
}

struct rti_memory_moment rti_memory_judge_rss(const struct rti_memory_sums *sums,
                                              uint64_t page_size)
{
	return (struct rti_memory_moment){
		.rss_bytes = rti_multiply_saturated(sums->rss_pages, page_size),
		.shared_max_bytes = rti_multiply_saturated(sums->shared_pages_max, page_size),
	};
}

struct rti_memory_moment rti_memory_judge(const struct rti_memory_facts *facts)
{
	struct rti_memory_moment moment = rti_memory_judge_rss(facts->sums, facts->page_size);

	if (is_exact(facts))
		set_exact(facts, &moment);
	else
		set_estimate(facts, &moment);
	return moment;
}
