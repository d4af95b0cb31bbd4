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
 *   While reads show that few of them are, few are taken for copies until the next read.
 * - What is mapped of files: see tree/pure/mapped.h.
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
	uint64_t anon_pages;     /* estimate of the anonymous pages */
	uint64_t copied_pages;   /* the part of it that faults were the evidence of */
	uint64_t anon_pages_min; /* anonymous pages that no two members can share */
	uint64_t anon_pages_max; /* if every fault and release had ended the sharing of a page */
};

uint64_t rti_memory_anon_pages(const struct rti_memory_look *look);

/* Whether a member shares anonymous pages with another: it was forked by that, or has forked it. */
static inline bool rti_memory_shares_anon(const struct rti_memory_part *m)
{
	return m->parent || m->forked > 0;
}

/* A member was found, or has executed a program. parent: the member that forked it if it has not
 * executed a program since, else NULL. Returns how many anonymous pages it may share with it. */
uint64_t rti_memory_join(struct rti_memory_part *m, const struct rti_memory_look *look,
                         struct rti_member *parent);
/* A member was looked at once more. copied: the part of the faults that may be copies and is taken
 * for that, 0 to 1. Returns by how many anonymous pages its sharing with others may have moved. */
uint64_t rti_memory_update(struct rti_memory_part *m, const struct rti_memory_look *look,
                           double copied);
/* By how many anonymous pages the sharing of a member with others would change by that look. */
uint64_t rti_memory_moved_pages(const struct rti_memory_part *m, const struct rti_memory_look *now);
/* A member has no memory any more, or has executed a program. What it shared with the members that
 * it has forked is theirs. Returns how many anonymous pages it may have shared with others. */
uint64_t rti_memory_leave(struct rti_member_table *table, struct rti_member *m);

/* Whether two looks may be of one address space: a process in the middle of vfork(2). */
bool rti_memory_looks_alike(const struct rti_memory_look *a, const struct rti_memory_look *b);

void rti_memory_sum(struct rti_member_table *table, struct rti_memory_sums *out);

/* Whether faults since the last read have so many copies in the sums that one member is to be read
 * if not all can be: a 16th. Returns the one that says most of them, or NULL. After
 * rti_memory_sum(). */
struct rti_member *rti_memory_find_suspect(const struct rti_member_table *table,
                                           const struct rti_memory_sums *sums);
/* That member was read: it has so many anonymous pages, and so many by PSS. Lowers the copies since
 * the last read, of all members, to the part that it can have copied at most. *copied: as above. */
void rti_memory_calibrate_by(struct rti_member_table *table, const struct rti_memory_part *m,
                             uint64_t pages, uint64_t pss_pages, double *copied);

/* The PSS of all members that share was read: the anonymous pages of all members are so many. Sets
 * the copies right. After rti_memory_sum(). *copied: as above; learns from the faults since the
 * last read. */
void rti_memory_calibrate(struct rti_member_table *table, const struct rti_memory_sums *sums,
                          uint64_t anon_pages, double *copied);

#endif
