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
 * - Pages of files and of shared memory: see tree/pure/executables.h.
 * E.g.: a process of 400 MiB forks 8 that sleep: 400 MiB, while RSS says 3600 MiB. One of them
 * writes to 50 MiB of it: 450 MiB.
 *
 * docs/notes/memory.md says how far it is off. */
#ifndef RTI_MEMORY_MODEL_H
#define RTI_MEMORY_MODEL_H

#include "tree/member/member.h"

struct rti_member;
struct rti_member_table;

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
/* By how many pages the sharing of a member with others would change by that look. */
uint64_t rti_memory_moved_pages(const struct rti_memory_part *m, const struct rti_memory_look *now);
/* A member has no memory any more, or has executed a program. What it shared with the members that
 * it has forked is theirs. Returns how many pages it may have shared with others. */
uint64_t rti_memory_leave(struct rti_member_table *table, struct rti_member *m);

/* Whether two looks may be of one address space: a process in the middle of vfork(2). */
bool rti_memory_looks_alike(const struct rti_memory_look *a, const struct rti_memory_look *b);

void rti_memory_sum(struct rti_member_table *table, struct rti_memory_sums *out);

/* Count the members that share with the first of each family. */
void rti_memory_count_relatives(struct rti_member_table *table);

/* The estimate of one member's part of sums.anon_pages: pages that it shares are divided among all
 * that do. After rti_memory_sum() and rti_memory_count_relatives(). */
uint64_t rti_memory_anon_share(const struct rti_member_table *table, const struct rti_member *m);

/* The PSS of all members was read: their anonymous pages are so many. Sets the copies right. After
 * rti_memory_sum(). Returns by how many there were too many. */
uint64_t rti_memory_calibrate(struct rti_member_table *table, const struct rti_memory_sums *sums,
                              uint64_t anon_pages);

#endif
