/* SPDX-License-Identifier: MIT */
/* When to read PSS, and what to say where it is not read. Pure arithmetic.
 *
 * Reading PSS walks the page tables of a process, which costs many times what all else costs,
 * and holds up its own mmap and munmap meanwhile. So it gets a share of one CPU, saved up to a
 * little. A process that has not run and whose RSS stands still is not read again. Where the
 * share does not do for all that have changed, each is read as seldom as makes it do, and its
 * last reading is carried on by what its RSS has changed since. */
#ifndef RTI_PSS_H
#define RTI_PSS_H

#include <stdbool.h>
#include <stdint.h>

struct rti_pss_budget {
	uint32_t share;   /* of one CPU, in thousandths; from 1000 on there is no limit */
	uint64_t hold_ns; /* longest that one reading may take */
	/* may be spent; below 0 it has yet to be earned, for a reading took longer than was
	 * expected */
	int64_t saved_ns;
	uint64_t now_ns;     /* monotonic; as of when */
	uint64_t spent_ns;   /* when some of it was spent last */
	uint64_t changed_ns; /* when somebody came or went, with whom others may share */
	/* what it would cost to read all that have changed: so far, and in the last sample */
	uint64_t due_ns, last_due_ns;
	uint64_t page_ps; /* what a page has cost, picoseconds */
};

/* One member's last reading. */
struct rti_pss {
	uint64_t bytes, rss_bytes; /* at that time */
	uint64_t clock_ns;         /* CPU time of the process at that time */
	uint64_t read_ns;          /* monotonic; 0: never */
};

/* share and hold_us as in rt_opts, where 0 is the default. */
void rti_pss_init(struct rti_pss_budget *budget, uint32_t share, uint32_t hold_us);

/* Time goes by. */
void rti_pss_save(struct rti_pss_budget *budget, uint64_t now_ns);

/* A sample begins, in which all members will be asked about. */
void rti_pss_begin(struct rti_pss_budget *budget);

/* What reading so much will cost, as far as can be told. */
uint64_t rti_pss_predict(const struct rti_pss_budget *budget, uint64_t rss_bytes);
/* Of so many processes, which have so much together. */
uint64_t rti_pss_predict_all(const struct rti_pss_budget *budget, uint64_t count,
                             uint64_t rss_bytes);

/* Shall it be read now? */
bool rti_pss_is_due(struct rti_pss_budget *budget, const struct rti_pss *pss, uint64_t rss_bytes,
                    uint64_t clock_ns);

/* It was read, and cost this much. */
void rti_pss_spend(struct rti_pss_budget *budget, uint64_t rss_bytes, uint64_t cost_ns);

/* Best guess without reading: the last reading, moved by the change in RSS; RSS itself where
 * there is none. */
uint64_t rti_pss_carry(const struct rti_pss *pss, uint64_t rss_bytes);

#endif
