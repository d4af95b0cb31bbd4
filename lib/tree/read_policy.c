/* SPDX-License-Identifier: MIT */
/* What is to be read of a member in a sample, and why. */
#include "tree/read_policy.h"

/* Nothing that was put off is due, and nothing is missing that may be there now. */
static bool is_all_known(const struct rti_read_facts *facts)
{
	return facts->was_read && !facts->is_final && !facts->missing &&
	       !(facts->put_off & facts->seldom_due);
}

struct rti_read_plan rti_plan_read(const struct rti_read_facts *facts)
{
	struct rti_read_plan plan = { 0 };

	if (facts->clock == RTI_CLOCK_UNCHANGED && is_all_known(facts)) {
		plan.is_unchanged = true;
		plan.domains = facts->idle_due;
		return plan;
	}
	plan.domains = facts->wanted & ~facts->seldom;
	plan.domains |= facts->is_final ? facts->seldom : facts->seldom_due;
	plan.if_rss_rose = facts->with_rss & ~plan.domains;
	plan.stat_may_wait = facts->was_read && !facts->is_final && !facts->needs_stat &&
	                     facts->clock != RTI_CLOCK_UNKNOWN && !facts->is_stat_due;
	return plan;
}
