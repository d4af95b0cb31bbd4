/* SPDX-License-Identifier: MIT */
/* When to read PSS, and what to report where it is not read. */
#include "tree/pss_budget.h"

#define DEFAULT_SHARE 10
#define NO_LIMIT 1000
#define DEFAULT_HOLD_NS 50000000u
#define SAVED_MAX_NS 100000000u /* so that the first sample reads all of an ordinary tree */
#define REFRESH_NS 10000000000u /* other processes change what is shared */
#define READ_NS 15000u          /* of a process without pages: open, and its mappings */
#define PAGE_PS 43000u          /* measured; then learned */
#define PAGE_BYTES 4096u
#define LEARN_FROM_BYTES (4u << 20)

void rti_pss_init(struct rti_pss_budget *budget, uint32_t share, uint32_t hold_us)
{
	*budget = (struct rti_pss_budget){
		.share = share == 0         ? DEFAULT_SHARE
		         : share < NO_LIMIT ? share
		                            : NO_LIMIT,
		.hold_ns = hold_us ? (uint64_t)hold_us * 1000 : DEFAULT_HOLD_NS,
		.saved_ns = SAVED_MAX_NS,
		.page_ps = PAGE_PS,
	};
}

/* Enough for the longest read that is allowed. */
static int64_t saved_max_ns(const struct rti_pss_budget *budget)
{
	return (int64_t)(budget->hold_ns > SAVED_MAX_NS ? budget->hold_ns : SAVED_MAX_NS);
}

void rti_pss_save(struct rti_pss_budget *budget, uint64_t now_ns)
{
	uint64_t passed_ns =
	    budget->now_ns && now_ns > budget->now_ns ? now_ns - budget->now_ns : 0;

	budget->now_ns = now_ns;
	budget->saved_ns += (int64_t)(passed_ns / 1000 * budget->share);
	if (budget->saved_ns > saved_max_ns(budget))
		budget->saved_ns = saved_max_ns(budget);
}

void rti_pss_begin(struct rti_pss_budget *budget)
{
	budget->last_due_ns = budget->due_ns;
	budget->due_ns = 0;
}

void rti_pss_note_change(struct rti_pss_budget *budget)
{
	budget->changed_ns = budget->now_ns;
}

uint64_t rti_pss_predict_all(const struct rti_pss_budget *budget, uint64_t count,
                             uint64_t rss_bytes)
{
	return count * READ_NS + rss_bytes / PAGE_BYTES * budget->page_ps / 1000;
}

uint64_t rti_pss_predict(const struct rti_pss_budget *budget, uint64_t rss_bytes)
{
	return rti_pss_predict_all(budget, 1, rss_bytes);
}

/* A round through all that are due takes as long as the share needs to pay for it. While enough is
 * saved, no process waits for its turn. */
static uint64_t round_ns(const struct rti_pss_budget *budget)
{
	return budget->last_due_ns / budget->share * 1000;
}

bool rti_pss_is_due(struct rti_pss_budget *budget, const struct rti_pss *pss, uint64_t rss_bytes,
                    uint64_t clock_ns)
{
	uint64_t cost_ns = rti_pss_predict(budget, rss_bytes),
		 age_ns = budget->now_ns - pss->read.at_ns;

	if (cost_ns > budget->hold_ns)
		return false;
	if (budget->share >= NO_LIMIT)
		return true;
	if (pss->read.at_ns && pss->read.at_ns >= budget->changed_ns &&
	    clock_ns == pss->read.clock_ns && rss_bytes == pss->rss_bytes && age_ns < REFRESH_NS)
		return false;
	budget->due_ns += cost_ns;
	if (pss->read.at_ns && age_ns < round_ns(budget) &&
	    budget->saved_ns < saved_max_ns(budget) / 2)
		return false;
	return (int64_t)cost_ns <= budget->saved_ns;
}

void rti_pss_spend(struct rti_pss_budget *budget, uint64_t rss_bytes, uint64_t cost_ns)
{
	budget->saved_ns -= (int64_t)cost_ns;
	budget->spent_ns = budget->now_ns;
	if (rss_bytes >= LEARN_FROM_BYTES && cost_ns > READ_NS)
		budget->page_ps =
		    (3 * budget->page_ps + (cost_ns - READ_NS) * 1000 / (rss_bytes / PAGE_BYTES)) /
		    4;
}

uint64_t rti_pss_carry(const struct rti_pss *pss, uint64_t rss_bytes)
{
	uint64_t lost = pss->rss_bytes > rss_bytes ? pss->rss_bytes - rss_bytes : 0;
	uint64_t bytes =
	    rss_bytes > pss->rss_bytes ? pss->bytes + rss_bytes - pss->rss_bytes : pss->bytes;

	if (!pss->read.at_ns)
		return rss_bytes;
	bytes = bytes > lost ? bytes - lost : 0;
	return bytes < rss_bytes ? bytes : rss_bytes;
}
