/* SPDX-License-Identifier: MIT */
/* How much CPU time reading PSS may use. */
#include "tree/pure/pss_budget.h"

#include "tree/pure/strategy.h"
#include "util/arith.h"

#define DEFAULT_SHARE 10
#define DEFAULT_HOLD_NS 50000000u
#define SAVED_MAX_NS 100000000u /* so that the first sample reads all of an ordinary tree */
#define OWED_PART 8
#define PAGE_BYTES 4096u
#define LEARN_FROM_BYTES (4u << 20)

void rti_pss_init(struct rti_pss_budget *budget, uint32_t share, uint32_t hold_us)
{
	*budget = (struct rti_pss_budget){
		.share = share == 0                 ? DEFAULT_SHARE
		         : share < RTI_PSS_NO_LIMIT ? share
		                                    : RTI_PSS_NO_LIMIT,
		.hold_ns = hold_us ? (uint64_t)hold_us * 1000 : DEFAULT_HOLD_NS,
		.saved_ns = SAVED_MAX_NS,
		.page_ps = RTI_ROLLUP_PAGE_PS,
	};
}

/* Enough for the longest read that is allowed. */
uint64_t rti_pss_saved_max_ns(const struct rti_pss_budget *budget)
{
	return rti_max(budget->hold_ns, SAVED_MAX_NS);
}

void rti_pss_save(struct rti_pss_budget *budget, uint64_t now_ns)
{
	uint64_t passed_ns =
	    budget->now_ns && now_ns > budget->now_ns ? now_ns - budget->now_ns : 0;
	int64_t saved_max_ns = (int64_t)rti_pss_saved_max_ns(budget);

	budget->now_ns = now_ns;
	budget->saved_ns += (int64_t)(passed_ns / 1000 * budget->share);
	if (budget->saved_ns > saved_max_ns)
		budget->saved_ns = saved_max_ns;
}

uint64_t rti_pss_predict(const struct rti_pss_budget *budget, uint64_t rss_bytes)
{
	return RTI_ROLLUP_NS + rss_bytes / PAGE_BYTES * budget->page_ps / 1000;
}

uint64_t rti_pss_least_part_ns(const struct rti_pss_budget *budget, size_t members)
{
	return rti_min(rti_pays_from(&rti_strategies[RTI_READ_PART], members * RTI_LOOK_NS),
	               rti_pss_saved_max_ns(budget) / 4);
}

bool rti_pss_is_short(const struct rti_pss_budget *budget, uint64_t cost_ns)
{
	return cost_ns <= budget->hold_ns;
}

uint64_t rti_pss_saved_ns(const struct rti_pss_budget *budget)
{
	if (budget->share >= RTI_PSS_NO_LIMIT)
		return UINT64_MAX;
	return budget->saved_ns > budget->kept_ns ? (uint64_t)(budget->saved_ns - budget->kept_ns)
	                                          : 0;
}

bool rti_pss_can_afford(const struct rti_pss_budget *budget, uint64_t cost_ns)
{
	return cost_ns <= rti_pss_saved_ns(budget);
}

bool rti_pss_can_borrow(const struct rti_pss_budget *budget, uint64_t cost_ns)
{
	int64_t owed_max_ns = (int64_t)rti_pss_saved_max_ns(budget) / OWED_PART;

	return cost_ns <= INT64_MAX && (int64_t)cost_ns <= budget->saved_ns + owed_max_ns;
}

uint64_t rti_pss_wait_ns(const struct rti_pss_budget *budget, uint64_t cost_ns)
{
	int64_t missing_ns = (int64_t)cost_ns - (budget->saved_ns - budget->kept_ns);

	return missing_ns > 0 ? (uint64_t)missing_ns / budget->share * 1000 : 0;
}

void rti_pss_keep_half(struct rti_pss_budget *budget, bool keeps)
{
	budget->kept_ns = keeps ? (int64_t)rti_pss_saved_max_ns(budget) / 2 : 0;
}

/* What some process has cost for swapped or huge pages must not set the price of all others at
 * once. */
void rti_pss_spend(struct rti_pss_budget *budget, uint64_t rss_bytes, uint64_t cost_ns)
{
	uint64_t pages = rss_bytes / PAGE_BYTES, page_ps;

	budget->saved_ns -= (int64_t)cost_ns;
	budget->spent_ns += cost_ns;
	if (rss_bytes < LEARN_FROM_BYTES || cost_ns <= RTI_ROLLUP_NS)
		return;
	page_ps = rti_clamp((cost_ns - RTI_ROLLUP_NS) * 1000 / pages, budget->page_ps / 4,
	                    budget->page_ps * 4);
	budget->page_ps = (3 * budget->page_ps + page_ps) / 4;
	if (budget->page_ps < RTI_ROLLUP_PAGE_MIN_PS)
		budget->page_ps = RTI_ROLLUP_PAGE_MIN_PS;
}
