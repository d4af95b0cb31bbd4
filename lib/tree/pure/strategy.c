/* SPDX-License-Identifier: MIT */
/* What pays in a tree. */
#include "tree/pure/strategy.h"

#include "util/arith.h"

const struct rti_strategy rti_strategies[RTI_STRATEGIES] = {
	[RTI_READ_BATCHES] = { .members_min = 10, .worth = 1, .price = 1 },
	[RTI_WATCH] = { .members_min = 256, .seen_min = 32768, .worth = 2, .price = 1 },
	[RTI_KEEP_WATCH] = { .members_min = 128, .seen_min = 32768, .worth = 8, .price = 1 },
	/* E.g.: a search of 20,000 threads takes 30 ms where other programs use the caches, so the
	 * next comes after 120 s. */
	[RTI_SEARCH_THREADS] = { .cost_min = 4000000, .worth = 1, .price = 4000 },
	[RTI_LOOK_IN_TURN] = { .worth = 1, .price = 5000 },
	[RTI_CHECK_CGROUP] = { .worth = 1, .price = 1000 },
	/* The files of fewer than 64 threads cost less than asking how many processes there are. */
	[RTI_SCAN_PROC] = { .cost_min = 32 * RTI_FILE_NS, .worth = 1, .price = 2 },
	[RTI_KEEP_SELDOM_FILES] = { .worth = 1, .price = 6 },
	/* E.g.: of 4000 members 20 ms, not a few members in each sample. */
	[RTI_READ_PART] = { .worth = 1, .price = 10 },
};

uint64_t rti_pays_from(const struct rti_strategy *strategy, uint64_t cost)
{
	uint64_t price = rti_multiply_saturated(rti_max(cost, strategy->cost_min), strategy->price);

	return price / strategy->worth + (price % strategy->worth != 0);
}

bool rti_pays(const struct rti_strategy *strategy, size_t members, uint64_t saved, uint64_t cost)
{
	return members >= strategy->members_min && saved >= rti_pays_from(strategy, cost);
}

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
	return members >= choice->open->members_min && choice->looks >= choice->open->seen_min;
}

/* Begin to count anew. Returns what the looks have cost. */
static uint64_t decide(struct rti_watch_choice *choice, uint64_t switches)
{
	uint64_t looks_ns = choice->looks_ns;

	if (choice->looks)
		choice->look_ns = rti_max(looks_ns / choice->looks, RTI_LOOK_MIN_NS);
	choice->looks = choice->looks_ns = 0;
	choice->switches = switches;
	return looks_ns;
}

bool rti_watch_choice_opens(struct rti_watch_choice *choice, size_t members, uint64_t switches)
{
	uint64_t before = choice->switches, looks_ns = decide(choice, switches);

	return before && switches >= before &&
	       rti_pays(choice->open, members, looks_ns, (switches - before) * RTI_SWITCH_NS);
}

bool rti_watch_choice_closes(struct rti_watch_choice *choice, size_t members, uint64_t switches)
{
	uint64_t passed = switches - choice->switches;

	if (members < choice->keep->members_min)
		return true;
	if (choice->looks + passed < choice->keep->seen_min)
		return false;
	return !rti_pays(choice->keep, members, decide(choice, switches), passed * RTI_SWITCH_NS);
}
