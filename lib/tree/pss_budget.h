/* SPDX-License-Identifier: MIT */
/* When to read PSS, and what to report where it is not read. Pure arithmetic.
 *
 * Reading PSS walks the page tables of a process. That costs many times what all other figures
 * cost, and delays the process's own mmap and munmap meanwhile. So PSS gets a share of one CPU,
 * of which a little may be saved. A process that has not run, with an unchanged RSS, is
 * not read again. If the share does not cover all that have changed, each is read as seldom as
 * the share requires. Its last value, moved by the change of its RSS since, stands in between. */
#ifndef RTI_PSS_BUDGET_H
#define RTI_PSS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/stamp.h"

/* Written by pss_budget.c only. */
struct rti_pss_budget {
	uint32_t share;   /* of one CPU, in thousandths; 1000 and more: no limit */
	uint64_t hold_ns; /* longest that one read may take */
	/* May be spent. Below 0 it has yet to be earned: a read took longer than expected. */
	int64_t saved_ns;
	uint64_t now_ns;              /* monotonic; as of when */
	uint64_t spent_ns;            /* when some of it was spent last */
	uint64_t changed_ns;          /* when a process that may share memory came or went */
	uint64_t due_ns, last_due_ns; /* cost of all that have changed: so far; last sample */
	uint64_t page_ps;             /* what a page has cost, picoseconds */
};

/* The last PSS that was read of one member. */
struct rti_pss {
	uint64_t bytes, rss_bytes; /* at that time */
	struct rti_stamp read;
};

/* share and hold_us as in rt_opts, where 0 is the default. */
void rti_pss_init(struct rti_pss_budget *budget, uint32_t share, uint32_t hold_us);

/* Time passes: the budget grows. */
void rti_pss_save(struct rti_pss_budget *budget, uint64_t now_ns);

/* A sample begins, in which every member will be asked about. */
void rti_pss_begin(struct rti_pss_budget *budget);

/* A process that may share memory with others came or went: no old value is sure any more. */
void rti_pss_note_change(struct rti_pss_budget *budget);

/* The expected cost of reading one process, or count processes that have rss_bytes together. */
uint64_t rti_pss_predict(const struct rti_pss_budget *budget, uint64_t rss_bytes);
uint64_t rti_pss_predict_all(const struct rti_pss_budget *budget, uint64_t count,
                             uint64_t rss_bytes);

/* Whether to read a process now. */
bool rti_pss_is_due(struct rti_pss_budget *budget, const struct rti_pss *pss, uint64_t rss_bytes,
                    uint64_t clock_ns);

/* A process was read, at this cost. */
void rti_pss_spend(struct rti_pss_budget *budget, uint64_t rss_bytes, uint64_t cost_ns);

/* The best estimate without a read: the last value, moved by the change of RSS. Returns RSS
 * itself if there is none. */
uint64_t rti_pss_carry(const struct rti_pss *pss, uint64_t rss_bytes);

#endif
