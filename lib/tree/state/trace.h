/* SPDX-License-Identifier: MIT */
/* A trace of decisions, for debugging: why a member was read or not. Compiled out unless Meson
 * is given -Dtrace=true, which defines RTI_TRACE. */
#ifndef RTI_TREE_TRACE_H
#define RTI_TREE_TRACE_H

#include "tree/state/read_policy.h"

#ifdef RTI_TRACE
#include <inttypes.h>
#include <stdio.h>

static inline const char *rti_trace_clock(enum rti_clock_state clock)
{
	switch (clock) {
	case RTI_CLOCK_UNKNOWN:
		return "unknown";
	case RTI_CLOCK_UNCHANGED:
		return "unchanged";
	case RTI_CLOCK_MOVED:
		return "moved";
	}
	return "?";
}

/* One line on stderr for each member that is not known to be idle. Domains are RT_HAS_ bits. */
static inline void rti_trace_read(int32_t pid, const struct rti_read_facts *facts,
                                  const struct rti_read_plan *plan, bool has_row)
{
	fprintf(stderr,
	        "rtrack: pid %" PRId32 ": clock %s%s%s, missing %#" PRIx64 ", put off %#" PRIx64
	        " -> %s%s, domains %#" PRIx64 "%s\n",
	        pid, rti_trace_clock(facts->clock), facts->was_read ? "" : ", never read",
	        facts->is_final ? ", final" : "", facts->missing, facts->put_off,
	        plan->is_unchanged ? "unchanged" : "read", has_row ? " from a batch row" : "",
	        plan->domains, plan->stat_may_wait ? ", stat may wait" : "");
}
#else
static inline void rti_trace_read(int32_t pid, const struct rti_read_facts *facts,
                                  const struct rti_read_plan *plan, bool has_row)
{
	(void)pid;
	(void)facts;
	(void)plan;
	(void)has_row;
}
#endif

#endif
