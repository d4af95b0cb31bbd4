/* SPDX-License-Identifier: MIT */
/* How much CPU time reading PSS may use. Pure arithmetic.
 *
 * Reading PSS walks the page tables of a process. That costs many times what all other figures
 * cost, and delays the process's own mmap and munmap meanwhile. So PSS gets a share of one CPU,
 * of which a little may be saved. */
#ifndef RTI_PSS_BUDGET_H
#define RTI_PSS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by pss_budget.c only. */
struct rti_pss_budget {
	uint32_t share;   /* of one CPU, in thousandths; RTI_PSS_NO_LIMIT and more: no limit */
	uint64_t hold_ns; /* longest that one read may take */
	/* May be spent. Below 0 it has yet to be earned: a read took longer than expected. */
	int64_t saved_ns;
	int64_t kept_ns;   /* not to be spent now */
	uint64_t now_ns;   /* monotonic; as of when */
	uint64_t spent_ns; /* so far */
	uint64_t page_ps;  /* what a page has cost, picoseconds */
};

#define RTI_PSS_NO_LIMIT 1000u

/* share and hold_us as in rt_opts, where 0 is the default. */
void rti_pss_init(struct rti_pss_budget *budget, uint32_t share, uint32_t hold_us);

/* Time passes: the budget grows. */
void rti_pss_save(struct rti_pss_budget *budget, uint64_t now_ns);

/* The most that can be saved. */
uint64_t rti_pss_saved_max_ns(const struct rti_pss_budget *budget);

/* The expected cost of reading one process. */
uint64_t rti_pss_predict(const struct rti_pss_budget *budget, uint64_t rss_bytes);

/* What is to be saved up for a part of a tree that can never be paid for as a whole: RTI_READ_PART,
 * but no more than a quarter of what can be saved. */
uint64_t rti_pss_least_part_ns(const struct rti_pss_budget *budget, size_t members);

/* Whether one process may be read at all: the read must not hold it up too long. */
bool rti_pss_is_short(const struct rti_pss_budget *budget, uint64_t cost_ns);

/* What may be spent now. UINT64_MAX: there is no limit. */
uint64_t rti_pss_saved_ns(const struct rti_pss_budget *budget);

/* Whether so much may be spent now. */
bool rti_pss_can_afford(const struct rti_pss_budget *budget, uint64_t cost_ns);

/* Whether it may be spent in advance: an eighth of what can be saved may be owed. */
bool rti_pss_can_borrow(const struct rti_pss_budget *budget, uint64_t cost_ns);

/* How long it takes until so much can be afforded. */
uint64_t rti_pss_wait_ns(const struct rti_pss_budget *budget, uint64_t cost_ns);

/* Keep half of what can be saved up: what peak polls read may be stale at the next sample. */
void rti_pss_keep_half(struct rti_pss_budget *budget, bool keeps);

/* A process was read, at this cost. */
void rti_pss_spend(struct rti_pss_budget *budget, uint64_t rss_bytes, uint64_t cost_ns);

#endif
