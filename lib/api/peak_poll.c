/* SPDX-License-Identifier: MIT */
/* Peak polls at the pace that they may cost. */
#include "api/peak_poll.h"

#include <errno.h>

#include "api/tracker.h"
#include "util/arith.h"

#define POLL_SHARE 200 /* of one CPU: half a percent */

/* Without reading PSS, which has a budget of its own. */
static uint64_t cost_ns(const struct rt_tracker *t)
{
	return rti_subtract_saturated(t->self_cpu_ns, rti_tree_pss_cost_ns(t->tree));
}

int rti_peak_poll(struct rt_tracker *t, uint64_t *pace_ns)
{
	uint64_t before_ns;
	int err;

	if (t->kind != RT_KIND_PID)
		return -EOPNOTSUPP;
	rti_lock_take(t->lock);
	before_ns = cost_ns(t);
	err = rt_tracker_glance(t);
	*pace_ns =
	    rti_max(rti_subtract_saturated(cost_ns(t), before_ns) * POLL_SHARE, RTI_PEAK_POLL_NS);
	rti_lock_release(t->lock);
	return err;
}
