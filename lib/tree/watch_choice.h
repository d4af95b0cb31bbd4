/* SPDX-License-Identifier: MIT */
/* Whether it pays to have the kernel watch a tree: what its programs cost at each switch of the
 * system, against what they save at each sample. Pure. */
#ifndef RTI_WATCH_CHOICE_H
#define RTI_WATCH_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by watch_choice.c only; tests set the limits. */
struct rti_watch_choice {
	size_t members_min; /* a smaller tree is not watched */
	uint64_t looks_min; /* a decision is made after so many */
	uint64_t switch_ns; /* what the programs cost at a switch */
	/* Since the last decision: looks at members that have not run, which the watch saves or
	 * would save, and what they cost. */
	uint64_t looks, looks_ns;
	uint64_t
	    look_ns; /* what one has cost by the last decision: it is not known of those saved */
	uint64_t switches; /* by the last decision; 0: not known */
};

#define RTI_WATCH_CHOICE_INIT                                                                      \
	{                                                                                          \
		.members_min = 256, .looks_min = 32768, .switch_ns = 200, .look_ns = 200           \
	}

/* From now on looks are counted: without a watch, or with one that saves some. switches: as
 * below. */
void rti_watch_choice_begin(struct rti_watch_choice *choice, uint64_t switches);

/* A sample has looked at so many members, of which some have run, and this took so much CPU time.
 * What a look costs is measured: 0.2 us in samples without a pause, and up to 2 us after one in
 * which other programs have evicted the kernel's structures from the cache. */
void rti_watch_choice_count(struct rti_watch_choice *choice, size_t members, size_t ran,
                            uint64_t cpu_ns);

/* A sample has been saved so many looks by the watch. */
void rti_watch_choice_count_saved(struct rti_watch_choice *choice, size_t looks);

/* Whether there is no watch, and it is time to ask the next function. */
bool rti_watch_choice_is_due(const struct rti_watch_choice *choice, size_t members);

/* Whether to open a watch, or to close it. switches: of the system so far; 0: not known. What the
 * tracker itself uses counts twice what it costs others. A watch ends at a quarter of what it
 * begins at: so it does not waver. */
bool rti_watch_choice_opens(struct rti_watch_choice *choice, uint64_t switches);
bool rti_watch_choice_closes(struct rti_watch_choice *choice, size_t members, uint64_t switches);

#endif
