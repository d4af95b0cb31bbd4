/* SPDX-License-Identifier: MIT */
/* What the members of a tree hold together, from statm and stat alone. Pure arithmetic.
 *
 * RSS counts a page once for each process that maps it. PSS divides it among them, but costs a walk
 * through all page tables. This model needs neither:
 * - After an exec, all anonymous pages of a process are its own.
 * - A forked process that has not executed a program (PF_FORKNOEXEC) inherits the anonymous pages
 *   of its parent. It adds only those beyond.
 * - A write to an inherited page copies it, on either side of the fork. RSS does not change by
 *   that, but the write is a minor fault. So faults beyond the growth of RSS are copies.
 * - Pages of files and of shared memory: see tree/executables.h.
 * E.g.: a process of 400 MiB forks 8 that sleep: 400 MiB, while RSS says 3600 MiB. One of them
 * writes to 50 MiB of it: 450 MiB.
 *
 * docs/internals.md says how far it is off. */
#ifndef RTI_MEMORY_MODEL_H
#define RTI_MEMORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct rti_member;
struct rti_member_table;

/* What the files of a process say of its memory at one moment. */
struct rti_memory_look {
	uint64_t rss_pages, shared_pages; /* statm; shared: of files and of shared memory */
	uint64_t size_pages;              /* statm: mapped */
	uint64_t shmem_pages; /* status, seldom read: the part of shared that is no file */
	uint64_t faults;      /* stat: minor ones */
	uint64_t stack;       /* stat: new with each exec */
	bool is_forked;       /* and has not executed a program */
	bool is_torn;         /* it ran between the reads of statm and stat */
};

/* The memory of one member. Written by memory_model.c, but for executable and is_unknown: memory.c.
 */
struct rti_memory_part {
	struct rti_memory_look look;
	bool is_unknown;        /* its files could not be read; what follows is of before */
	bool is_present;        /* it has memory, and counts */
	bool has_parents_space; /* it runs in the address space of its parent: vfork */
	bool is_founder;        /* what it has inherited from is no member: all it has is its own */
	int executable;         /* index in rti_executables; -1: unknown */
	int32_t parent;         /* member that it shares anonymous pages with; 0: none */
	uint32_t forked;        /* members that share anonymous pages with it as their parent */
	uint64_t inherited;     /* anonymous pages that it had in common with its parent */
	uint64_t found_pages;   /* anonymous pages that it had when it was found */
	/* Pages copied so far: since its fork, or since it has forked. counted: the look as of
	 * which that is. */
	uint64_t copies;
	struct rti_memory_look counted;
	/* Anonymous pages released so far. */
	uint64_t released;
	/* The look before the last one, which is from before the fork of members found since. */
	uint64_t anon_before, faults_before, released_before;
	/* Of its parent when this member was forked: at most copies; at least the others. */
	uint64_t parent_copies, parent_faults, parent_released;
	/* Inherited pages that its parent may have in another version, since both have inherited
	 * them from a member that has left: at most so many. */
	uint64_t parted;
	/* Of the current sum, over the members that it has forked. left_behind: pages that it has
	 * copied, and that only they have by now. given: most that one of them still has of what it
	 * inherited. last_copies, last_inherited: of the one added last. */
	bool has_given;
	uint64_t left_behind, given, last_copies, last_inherited;
};

/* Sums over all members. */
struct rti_memory_sums {
	uint64_t rss_pages;
	uint64_t anon_pages;       /* estimate of the anonymous pages */
	uint64_t copied_pages;     /* the part of it that faults were the evidence of */
	uint64_t anon_pages_min;   /* anonymous pages that no two members can share */
	uint64_t anon_pages_max;   /* if every fault and release had ended the sharing of a page */
	uint64_t shared_pages;     /* of files and shared memory, each member for itself */
	uint64_t shared_pages_max; /* the same of the member with most of it */
	uint64_t shmem_pages_max;  /* shared memory alone of the member with most of it */
};

uint64_t rti_memory_anon_pages(const struct rti_memory_look *look);

/* A member was found, or has executed a program. parent: the member that forked it if it has not
 * executed a program since, else NULL. Returns how many pages it may share with others. */
uint64_t rti_memory_join(struct rti_memory_part *m, const struct rti_memory_look *look,
                         struct rti_member *parent);
/* A member was looked at once more. Returns by how many pages its sharing with others may have
 * changed. */
uint64_t rti_memory_update(struct rti_memory_part *m, const struct rti_memory_look *look);
/* A member has no memory any more, or has executed a program. What it shared with the members that
 * it has forked is theirs. Returns how many pages it may have shared with others. */
uint64_t rti_memory_leave(struct rti_member_table *table, struct rti_member *m);

/* Whether two looks may be of one address space: a process in the middle of vfork(2). */
bool rti_memory_looks_alike(const struct rti_memory_look *a, const struct rti_memory_look *b);

void rti_memory_sum(struct rti_member_table *table, struct rti_memory_sums *out);

/* The estimate of one member's part of sums.anon_pages: pages that it shares are divided among all
 * that do. After rti_memory_sum(). */
uint64_t rti_memory_anon_share(const struct rti_member_table *table, const struct rti_member *m);

/* The PSS of all members was read: their anonymous pages are so many. Sets the copies right. After
 * rti_memory_sum(). */
void rti_memory_calibrate(struct rti_member_table *table, const struct rti_memory_sums *sums,
                          uint64_t anon_pages);

#endif
