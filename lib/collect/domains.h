/* SPDX-License-Identifier: MIT */
/* The collectors of members, sorted by what their table entries say: one RT_HAS_ mask for each. */
#ifndef RTI_DOMAINS_H
#define RTI_DOMAINS_H

#include "collect/collector.h"

/* What is found out of a tree from the memory of its members. */
#define RTI_HAS_OF_MEMORY                                                                          \
	(RT_HAS_PSS | RT_HAS_USS | RT_HAS_FOOTPRINT | RT_HAS_NEEDED | RT_HAS_TREE_SWAP |           \
	 RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED)

struct rti_pid_domains {
	uint64_t all;
	uint64_t seldom; /* cadence RTI_TEN_HZ */
	uint64_t while_idle;
	uint64_t of_status; /* reads_status */
	uint64_t with_rss;  /* rises_with_rss */
	uint64_t often_partial;
	uint64_t folds_children;
	uint64_t after_stat;
	uint64_t of_supervisor; /* with keep_children_share */
	uint64_t counters;      /* that consist of counters */
};

struct rti_pid_domains rti_pid_domains(void);

/* What has to be read so that want can be: want and all that it needs. */
uint64_t rti_pid_domains_needed(uint64_t want);

#endif
