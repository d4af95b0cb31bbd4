/* SPDX-License-Identifier: MIT */
/* The watch of a tree: which members a sample has to look at. */
#ifndef RTI_WATCH_STATE_H
#define RTI_WATCH_STATE_H

#include "bpf/watch/tree_watch.h"
#include "os/procfs.h"
#include "tree/pure/index_set.h"
#include "tree/pure/strategy.h"

enum rti_watch_stage {
	RTI_WATCH_NONE,
	RTI_WATCH_SETTLING, /* not all members are known to be marked */
	RTI_WATCH_SETTLED,
};

/* Written by watched.c only. */
struct rti_watched {
	struct rti_tree_watch *watch; /* NULL while there is none */
	bool is_unavailable;          /* it was tried, and cannot be had */
	enum rti_watch_stage stage;
	bool is_partial;   /* this sample looks at the members in `now` alone */
	bool must_sum_all; /* the sums cannot be moved by differences */
	uint32_t tries;    /* of settling */
	/* Indexes of members: to look at in this sample and in the next; and those that are in the
	 * sums with values of one sample alone, such as what they have reaped since the last. */
	struct rti_index_set now, next, unsettled;
	size_t looks;                     /* of the last sample */
	size_t ran;                       /* members that a full sample has found to have run */
	struct rti_watch_change *changes; /* scratch */
	size_t known;                     /* members at the end of the last sample */
	uint64_t changes_ns;              /* CLOCK_BOOTTIME: when the changes were taken */
	uint64_t taken_ns;                /* the sample before this one */
	uint64_t check_due_ns;            /* when all threads of the system are searched next */
	uint64_t turned_ns;               /* until when members were looked at in turn */
	size_t turn_next;
	uint64_t reclaims, refreshed_ns, unmarked;
	struct rti_watch_choice choice; /* written by strategy.c */
	struct rti_file stat;           /* of the system */
};

#define RTI_WATCHED_INIT                                                                           \
	{                                                                                          \
		.choice = RTI_WATCH_CHOICE_INIT, .stat = RTI_FILE_INIT                             \
	}

#endif
