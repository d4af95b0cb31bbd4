/* SPDX-License-Identifier: MIT */
/* When the reader of a trace is woken. */
#include "trace/pace.h"

#define PAUSE_NS 50000000u

struct rti_pace_plan rti_pace_plan(struct rti_pace *pace, uint64_t now_ns, bool found_some)
{
	bool was_asleep = pace->is_asleep;

	if (found_some)
		pace->flows_until_ns = now_ns + PAUSE_NS;
	pace->is_asleep = now_ns >= pace->flows_until_ns;
	if (!pace->is_asleep)
		return (struct rti_pace_plan){ .timer_ns = pace->flows_until_ns };
	/* An event that is being written may have missed that it is to wake the reader. So the
	 * reader looks once more after a pause. */
	return (struct rti_pace_plan){
		.wakes_at_once = true,
		.timer_ns = was_asleep ? RTI_PACE_NEVER : now_ns + PAUSE_NS,
	};
}
