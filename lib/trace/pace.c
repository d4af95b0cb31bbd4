/* SPDX-License-Identifier: MIT */
/* When the reader of a trace is woken. */
#include "trace/pace.h"

#define PAUSE_NS 50000000u

/* An event that is written right now may not have seen that it is to wake the reader. So the reader
 * looks once more after a pause. */
static struct rti_pace_plan fall_asleep(struct rti_pace *pace, uint64_t now_ns)
{
	bool is_first = !pace->is_asleep;

	pace->is_asleep = true;
	return (struct rti_pace_plan){ .wakes_at_once = true,
		                       .timer_ns = is_first ? now_ns + PAUSE_NS : RTI_PACE_NEVER };
}

struct rti_pace_plan rti_pace_plan(struct rti_pace *pace, uint64_t now_ns, bool found_some)
{
	if (found_some)
		pace->flows_until_ns = now_ns + PAUSE_NS;
	if (now_ns >= pace->flows_until_ns)
		return fall_asleep(pace, now_ns);
	pace->is_asleep = false;
	return (struct rti_pace_plan){ .wakes_at_once = false, .timer_ns = pace->flows_until_ns };
}
