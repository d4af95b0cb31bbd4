/* SPDX-License-Identifier: MIT */
/* What pays in a tree: every decision to do what costs something because that saves more, or shows
 * what is worth it. Pure: no I/O, no clock.
 *
 *   decision             saved                          cost                      if saved is
 *   -------------------  -----------------------------  ------------------------  -------------
 *   read in batches      reads so far, without it       loading the BPF reader    the cost
 *   watch the tree       looks since the last decision  switches of the system    half of it
 *                        that it would save             since, with its programs
 *   keep the watch       the same that it has saved     the same                  an eighth
 *   search all threads   time since the last search     that search, or 4 ms      4000 times it
 *   look in turn         time since the last look       a look                    5000 times it
 *   check a cgroup       time since the last check      a check                   1000 times it
 *   scan all of /proc    children files of the threads  a list, and the stat of   twice the cost
 *                        that may have forked           all that are no members
 *   keep files that are  descriptors that may be open   members                   6 times it:
 *   read seldom                                                                   six files each
 *   read a part of the   what the budget of memory      looks at all members, to  10 times it
 *   memory               reads has saved up             find what is due
 *
 * The first needs 10 members, the second 256 and the third 128. The watch is decided on after
 * 32,768 looks; to keep it, switches count as looks.
 *
 * What the tracker itself uses counts twice what it costs others, so a watch begins at half of its
 * cost. It ends at a quarter of that: so it does not waver. */
#ifndef RTI_STRATEGY_H
#define RTI_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What things cost, in ns of CPU time unless they say otherwise: measured on x86-64 with Linux
 * 6.18, by tests/bench. */
#define RTI_CLOCK_NS 200u           /* reading a CPU clock */
#define RTI_TEXT_READ_NS 5000u      /* reading the files of a member */
#define RTI_LOAD_BATCH_NS 20000000u /* loading the BPF reader */
#define RTI_SWITCH_NS 200u          /* the programs of a watch, at a switch */
#define RTI_LOOK_NS 500u            /* a look at a member that is not in the cache */
#define RTI_OPEN_NS 4000u           /* opening a file of a member */
#define RTI_FILE_NS 6000u           /* opening, reading and closing a file of a process or thread */
#define RTI_ENTRY_NS 500u           /* an entry of /proc, when it is listed */
#define RTI_CGROUP_LOOK_NS 10000u   /* reading the cgroup of a member */
#define RTI_ROLLUP_NS 15000u        /* PSS of a process without pages: open, and its mappings */
#define RTI_ROLLUP_PAGE_PS 43000u   /* picoseconds for each of its pages; then learned */
#define RTI_ROLLUP_PAGE_MIN_PS 100u /* the same of the largest pages */
#define RTI_SMAPS_NS 500000u        /* the mappings of a process as text, beside its pages */
/* A loop without a pause has all in the cache, and a look takes less. The samples after it may be
 * slower ones. */
#define RTI_LOOK_MIN_NS 200u

enum rti_strategy_name {
	RTI_READ_BATCHES,
	RTI_WATCH,
	RTI_KEEP_WATCH,
	RTI_SEARCH_THREADS,
	RTI_LOOK_IN_TURN,
	RTI_CHECK_CGROUP,
	RTI_SCAN_PROC,
	RTI_KEEP_SELDOM_FILES,
	RTI_READ_PART,
	RTI_STRATEGIES
};

/* It pays if `worth` times what is saved is no less than `price` times what it costs. */
struct rti_strategy {
	size_t members_min; /* a smaller tree is not worth it */
	uint64_t seen_min;  /* nothing is decided before so much was seen */
	uint64_t cost_min;  /* a lower cost counts as much */
	uint64_t worth, price;
};

extern const struct rti_strategy rti_strategies[RTI_STRATEGIES];

/* Whether it pays in a tree of so many members. saved and cost are of one unit. */
bool rti_pays(const struct rti_strategy *strategy, size_t members, uint64_t saved, uint64_t cost);

/* The least that has to be saved so that it pays. */
uint64_t rti_pays_from(const struct rti_strategy *strategy, uint64_t cost);

/* --- The watch: what it saves is counted from sample to sample. --- */

/* Written by strategy.c only; tests set the strategies. */
struct rti_watch_choice {
	const struct rti_strategy *open, *keep;
	/* Since the last decision: looks at members that have not run, which the watch saves or
	 * would save, and what they cost. */
	uint64_t looks, looks_ns;
	/* What one has cost by the last decision: the watch cannot measure what it saves. */
	uint64_t look_ns;
	uint64_t switches; /* by the last decision; 0: unknown */
};

#define RTI_WATCH_CHOICE_INIT                                                                      \
	{                                                                                          \
		.open = &rti_strategies[RTI_WATCH], .keep = &rti_strategies[RTI_KEEP_WATCH],       \
		.look_ns = RTI_LOOK_MIN_NS                                                         \
	}

/* From now on looks are counted: without a watch, or with one that saves some. switches: as
 * below. */
void rti_watch_choice_begin(struct rti_watch_choice *choice, uint64_t switches);

/* A sample has looked at so many members, ran of them have run, and this took so much CPU time.
 * What a look costs is measured: 0.2 us in samples without a pause, and up to 2 us after one in
 * which other programs have evicted the kernel's structures from the cache. */
void rti_watch_choice_count(struct rti_watch_choice *choice, size_t members, size_t ran,
                            uint64_t cpu_ns);

/* A sample has been saved so many looks by the watch. */
void rti_watch_choice_count_saved(struct rti_watch_choice *choice, size_t looks);

/* Whether there is no watch, and it is time to ask the next function. */
bool rti_watch_choice_is_due(const struct rti_watch_choice *choice, size_t members);

/* Whether to open a watch, or to close it. switches: of the system so far; 0: not known. */
bool rti_watch_choice_opens(struct rti_watch_choice *choice, size_t members, uint64_t switches);
bool rti_watch_choice_closes(struct rti_watch_choice *choice, size_t members, uint64_t switches);

#endif
