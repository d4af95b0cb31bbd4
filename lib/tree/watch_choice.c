/* SPDX-License-Identifier: MIT */
/* Whether it pays to have the kernel watch a tree. */
#include "tree/watch_choice.h"

#include "util/arith.h"

/* A loop without a pause has all in the cache. The samples after it may be slower ones. */
#define LOOK_MIN_NS 200

void rti_watch_choice_begin(struct rti_watch_choice *choice, uint64_t switches)
{
	choice->looks = choice->looks_ns = 0;
	choice->switches = switches;
}

void rti_watch_choice_count(struct rti_watch_choice *choice, size_t members, size_t ran,
                            uint64_t cpu_ns)
{
	size_t looks = members > ran ? members - ran : 0;

	choice->looks += looks;
	choice->looks_ns += looks ? cpu_ns / members * looks : 0;
}

void rti_watch_choice_count_saved(struct rti_watch_choice *choice, size_t looks)
{
	choice->looks += looks;
	choice->looks_ns += looks * choice->look_ns;
}

bool rti_watch_choice_is_due(const struct rti_watch_choice *choice, size_t members)
{
	return members >= choice->members_min && choice->looks >= choice->looks_min;
}

/* Begin to count anew. Returns what the looks have cost. */
static uint64_t decide(struct rti_watch_choice *choice, uint64_t switches)
{
	uint64_t looks_ns = choice->looks_ns;

	if (choice->looks)
		choice->look_ns = rti_max(looks_ns / choice->looks, LOOK_MIN_NS);
	choice->looks = choice->looks_ns = 0;
	choice->switches = switches;
	return looks_ns;
}

bool rti_watch_choice_opens(struct rti_watch_choice *choice, uint64_t switches)
{
	uint64_t before = choice->switches, looks_ns = decide(choice, switches);

	return before && switches >= before &&
	       2 * looks_ns >= choice->switch_ns * (switches - before);
}

bool rti_watch_choice_closes(struct rti_watch_choice *choice, size_t members, uint64_t switches)
{
	uint64_t passed = switches - choice->switches;

	if (members < choice->members_min / 2)
		return true;
	if (choice->looks + passed < choice->looks_min)
		return false;
	return 8 * decide(choice, switches) < choice->switch_ns * passed;
}
