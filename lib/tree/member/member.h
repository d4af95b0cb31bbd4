/* SPDX-License-Identifier: MIT */
/* One member of a tree, in parts. Each part has one writer. */
#ifndef RTI_MEMBER_H
#define RTI_MEMBER_H

#include <stddef.h>

#include "collect/collector.h"
#include "tree/pure/ledger.h"
#include "tree/pure/memory_part.h"
#include "tree/pure/stamp.h"

/* Written by clock_read.c: at the start of a sample or a peak poll, when the member is found, and
 * before it is read once more. */
struct rti_clock_part {
	struct rti_cpu_clock now;
	/* The row of this sample's batch read if it has figures; else NULL. */
	const struct rti_batch_row *row;
	bool is_known;
};

/* Written by discovery.c: when the children of the member were last listed. */
struct rti_scan_part {
	uint64_t last_pid; /* the pid that the kernel had allocated last by then; 0: unknown */
	uint64_t clock_ns; /* where the member's CPU clock stood; UINT64_MAX: list them again */
	uint32_t threads;  /* how many it had, until stat was read again; 0: unknown */
	bool is_due;       /* in this scan */
};

/* Written by tree_metrics.c at the end of a sample. */
struct rti_family_part {
	int32_t ppid;      /* in that sample */
	bool is_linked;    /* its parent is known to have it as a child */
	bool has_reaped;   /* its account of children grew in that sample */
	bool has_children; /* or has had some */
};

/* The same, cold. */
struct rti_former_part {
	int32_t ppid; /* in the sample before that one */
};

/* Written by member_read.c, idle_until_ns by rti_member_look_anew(), too. Orders are
 * numbers from rti_tree.events. */
struct rti_read_part {
	uint64_t clock_ns;      /* where its CPU clock stood when its account was read */
	uint64_t idle_until_ns; /* if its clock stands still, nothing is due before; 0: read it */
	uint64_t alive_at;      /* order: it was there; 0: not read yet */
	uint64_t account_at;    /* order: its account was read; 0: never */
};

/* Written by member_read.c, when the member is found to have exited. */
struct rti_end_part {
	uint64_t at;     /* order */
	bool has_exited; /* since the last sample */
};

/* Written by member_read.c: the last values, and when they were read. Between two samples,
 * member_row.c completes figures.row. */
struct rti_values_part {
	struct rti_figures figures;
	struct rti_stamp read[RTI_PID_COLLECTORS_MAX]; /* by number in the registry */
	struct rti_stamp row_status; /* name and SIGCHLD disposition, from a batch row */
	struct rti_stamp stat;
	uint64_t stat_last_pid;  /* the pid that had been allocated last by then */
	uint64_t peak_rss_bytes; /* largest seen: a zombie shows none */
	int32_t memory_tid;      /* a live thread to ask for memory, or 0: the leader */
	bool is_proven;          /* that it was there, when RSS was read alone in this poll */
	bool has_children;       /* of a process tracked alone: it has some, or may */
};

/* Written by exit_accounting.c. */
struct rti_exit_part {
	uint64_t revalidated_at; /* order */
	uint64_t mark;           /* of a walk over ancestors */
	bool is_unattributed;    /* no account has been found to have grown by it yet */
	bool is_zombie;          /* and the new parents of its children are known */
	bool has_final_account;  /* it was read when the member was a zombie */
};

/* Written by pss_read.c: the last read of PSS. */
struct rti_pss_part {
	uint64_t at_ns; /* CLOCK_MONOTONIC; 0: there is none */
	uint64_t pss_bytes;
	uint64_t anon_bytes; /* the part of it that is anonymous; with has_kinds */
	bool has_kinds;
	int error;            /* of the last try: 0 or -errno */
	uint64_t cost_ns;     /* the CPU time that it took */
	uint64_t tried_at_ns; /* that */
	uint64_t drift;       /* rti_memory_state.drift at that time */
	uint64_t anon_pages;  /* RSS without files and shared memory at that time */
};

/* Written by gpu_files.c, except unknown_at. */
struct rti_gpu_part {
	/* By gpu_drm.c: number of the last sample that lacks a figure of it (rti_gpu_domain). */
	uint64_t unknown_at[2];
	uint64_t clock_ns;    /* where its CPU clock stood when it was looked at last */
	uint64_t size_bytes;  /* of its address space then */
	uint64_t descriptors; /* that it had open then; 0: not known */
	uint32_t index;       /* in the table of members with a GPU, or near it */
	uint16_t looks;       /* in turn */
	bool was_listed : 1;  /* its descriptors were, once */
	bool is_due : 1;      /* it is to be looked at in this sample */
	bool is_known : 1;    /* it is in the table of members with a GPU */
};

/* Written by listed_members.c. */
struct rti_listed_part {
	uint64_t at_sample; /* number of the last sample with it in the list */
};

/* Written by obstacles.c. */
struct rti_obstacle_part {
	uint64_t met; /* RT_HAS_ bits of the domains that could not be read in full at some time */
};

/* Cached descriptors. Owned and closed by member_table.c; opened by the readers. */
struct rti_files_part {
	struct rti_file stat, statm, io, children;
	struct rti_file status, schedstat; /* read seldom: only where there is room for all */
	uint64_t used_at;                  /* number of the sample that used them last */
};

/* Written by tree_metrics.c, of a tree that is watched: what the sums have of the member. */
struct rti_summed_part {
	uint64_t counters[RTI_COUNTERS];
	uint64_t rss_bytes;
	uint32_t threads;
	uint8_t times_in_ticks;
	bool is_there;
};

struct rti_member_parts {
#include "tree/member/member_parts.def"
};

struct rti_member {
#include "tree/member/member_parts.def"
	/* An odd number of cache lines. Else the same part of all members is in a few sets of the
	 * cache. E.g.: of 2048 bytes, 1000 hot parts share 64 of the 2048 sets of a cache of 1 MiB,
	 * which then holds half of them: to go through them takes 5.6 us instead of 1.8. */
	char apart[sizeof(struct rti_member_parts) / 64 % 2 ? 0 : 64];
};

#define RTI_MEMBER_HOT_MAX 128 /* bytes: two cache lines */
_Static_assert(offsetof(struct rti_member, end) <= RTI_MEMBER_HOT_MAX, "hot part of a member");
#define RTI_MEMBER_MAX 2240 /* bytes: a tree of 1000 processes takes little more than 2 MiB */
_Static_assert(sizeof(struct rti_member) <= RTI_MEMBER_MAX, "size of a member");
_Static_assert(sizeof(struct rti_member) / 64 % 2 == 1, "members apart in the cache");

/* Have the next sample that looks at a member read all of it that may change while idle. */
static inline void rti_member_look_anew(struct rti_member *m)
{
	m->read.idle_until_ns = 0;
}

#endif
