/* SPDX-License-Identifier: MIT */
/* One member of a tree, in parts. Each part has one writer. */
#ifndef RTI_MEMBER_H
#define RTI_MEMBER_H

#include <stddef.h>

#include "collect/collector.h"
#include "tree/pure/ledger.h"
#include "tree/pure/mapped.h"

/* When a value of a process was read: as of which CPU clock, at what time. */
struct rti_stamp {
	uint64_t at_ns;    /* CLOCK_MONOTONIC; 0: never */
	uint64_t clock_ns; /* CPU time of the process at that time */
};

/* Whether the value is as old as age_ns, or was never read. */
static inline bool rti_stamp_is_older(const struct rti_stamp *stamp, uint64_t now_ns,
                                      uint64_t age_ns)
{
	return !stamp->at_ns || now_ns - stamp->at_ns >= age_ns;
}

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

/* What the files of a process say of its memory at one moment, and how far that can be trusted. */
struct rti_memory_look {
	uint64_t rss_pages, shared_pages; /* statm; shared: of files and of shared memory */
	uint64_t size_pages;              /* statm: mapped */
	/* status, seldom read: the part of shared that is no file; and what is in no RSS. */
	uint64_t shmem_pages, swap_pages, hugetlb_pages;
	uint64_t faults; /* stat: minor ones */
	uint64_t stack;  /* stat: new with each exec */
	uint64_t at_ns;  /* CLOCK_MONOTONIC */
	bool is_forked;  /* and has not executed a program */
	bool is_late;    /* what happened to its parent since the fork is not known */
	bool is_torn;    /* it ran between the reads of statm and stat */
};

/* A look, as far as copies are counted by it. */
struct rti_memory_count {
	uint64_t anon_pages, shared_pages, faults;
};

/* Of one member, while all are summed up: over the members that it has forked. Written by
 * rti_memory_sum(). */
struct rti_memory_sum_part {
	uint64_t left_behind; /* pages that it has copied, and that only they have by now */
	uint64_t given;       /* most that one of them still has of what it inherited */
	/* Of the one added last. */
	uint64_t last_copies, last_inherited;
	bool has_given;
};

/* The memory of one member. Written by memory_model.c; is_unknown, lacks_status, program,
 * has_parents_space and the faults of a member without relatives by memory_note.c. */
struct rti_memory_part {
	struct rti_memory_look look;
	bool is_unknown : 1;        /* its files could not be read; what follows is of before */
	bool lacks_status : 1;      /* likewise status: swap and huge pages are of before */
	bool is_present : 1;        /* it has memory, and counts */
	bool has_parents_space : 1; /* it runs in the address space of its parent: vfork */
	/* It shares no page with a parent: it executed a program, or took the place of a member
	 * that did. */
	bool is_founder : 1;
	bool has_before : 1;  /* a look before the last one */
	int program;          /* index in rti_mapped; -1: unknown */
	int32_t parent;       /* member that it shares anonymous pages with; 0: none */
	uint32_t forked;      /* members that share anonymous pages with it as their parent */
	uint64_t inherited;   /* anonymous pages that it had in common with its parent */
	uint64_t found_pages; /* anonymous pages that it had when it was found */
	/* Pages copied so far: since its fork, or since it has forked. counted: the look as of
	 * which that is. */
	uint64_t copies;
	struct rti_memory_count counted;
	/* Since the last read of all members that share: faults that may be copies. And the copies
	 * by then. */
	uint64_t suspects, copies_read;
	/* Anonymous pages released so far. */
	uint64_t released;
	/* The look before the last one, which is from before the fork of members found since. */
	uint64_t before_at_ns, anon_before, faults_before, released_before;
	/* The counts of its parent at the fork. parent_copies may be too high, the others too
	 * low. */
	uint64_t parent_copies, parent_faults, parent_released;
	/* Inherited pages that its parent may have in another version, for reasons that the counts
	 * above do not show: at most so many. E.g.: both have inherited them from a member that has
	 * left. */
	uint64_t parted;
	struct rti_memory_sum_part sum;
};

/* Whether its memory is in the sums: it has some, and does not run in that of its parent. */
static inline bool rti_memory_counts(const struct rti_memory_part *memory)
{
	return memory->is_present && !memory->has_parents_space;
}

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

/* Written by member_read.c, and idle_until_ns by member_table.c and clock_read.c, too: 0. Orders
 * are numbers from rti_tree.events. */
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

/* Written by member_change.c: the counters as the sample before had them. */
struct rti_before_part {
	uint64_t at_sample; /* number of the last sample that has read the member; 0: none */
	bool is_new;        /* in that sample, before which it was no member */
	uint64_t valid, partial, estimated;
	uint64_t self[RTI_COUNTERS], reaped_user_ns, reaped_system_ns;
};

/* Written by exit_accounting.c. */
struct rti_exit_part {
	uint64_t revalidated_at; /* order */
	uint64_t mark;           /* of a walk over ancestors */
	bool is_unattributed;    /* no account has been found to have grown by it yet */
	bool is_zombie;          /* and the new parents of its children are known */
	bool has_final_account;  /* it was read when the member was a zombie */
};

/* The last try to read a file that walks the page tables of a member. */
struct rti_page_read {
	uint64_t tried_at_ns; /* CLOCK_MONOTONIC */
	uint64_t cost_ns;     /* the CPU time that it took */
	int error;            /* 0 or -errno */
};

#define RTI_PAGE_RETRY_NS 1000000000u /* of what could not be read */

static inline bool rti_page_is_unreadable(const struct rti_page_read *read, uint64_t now_ns)
{
	return read->error < 0 && now_ns - read->tried_at_ns < RTI_PAGE_RETRY_NS;
}

/* What was read last of the pages of a member. smaps and the image are written by image_read.c, the
 * other values by pss_read.c, and lazy_free_bytes by both; memory_note.c frees the image. */
struct rti_pss_part {
	uint64_t at_ns; /* CLOCK_MONOTONIC; 0: there is none */
	uint64_t pss_bytes;
	uint64_t anon_bytes; /* the part of it that is anonymous; with has_kinds */
	uint64_t lazy_free_bytes, swap_bytes;
	uint64_t uss_bytes, row_swap_bytes; /* as its row has them */
	struct rti_page_read rollup, smaps;
	bool has_kinds;
	bool is_image_due;       /* by the last look for images to read */
	uint64_t drift;          /* rti_memory_state.drift when it was read */
	uint64_t anon_pages;     /* RSS without files and shared memory at that time */
	struct rti_image *image; /* of its own; NULL: that of its program counts */
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

/* Written by served_reads.c: what it had read when it was looked at last. */
struct rti_served_part {
	uint64_t bytes, fetched; /* by its calls and faults; of that, from storage */
	uint64_t mapped;         /* of files, or least since then */
	uint64_t at_ns;          /* CLOCK_MONOTONIC of the last look at its files; 0: none */
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
#define RTI_MEMBER_MAX 2496 /* bytes: a tree of 1000 processes takes 2.5 MB */
_Static_assert(sizeof(struct rti_member) <= RTI_MEMBER_MAX, "size of a member");
_Static_assert(sizeof(struct rti_member) / 64 % 2 == 1, "members apart in the cache");

#endif
