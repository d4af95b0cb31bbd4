/* SPDX-License-Identifier: MIT */
/* The footprint of a tree: the memory that its members map, each page once, also if others map it.
 * Pure arithmetic.
 *
 *   footprint = anonymous + shared memory + huge pages + mapped files
 *   needed    = anonymous + shared memory + huge pages, less what was freed lazily
 *
 * Anonymous pages are a member's own, unless it was forked without an exec, or has forked such a
 * member: those are read, or estimated (memory_model.h). What is mapped is in tree/pure/mapped.h.
 * Each part has bounds that hold. A figure is exact if its bounds are within a hundredth.
 * E.g.: a process of 400 MiB forks eight that sleep: 400 MiB. */
#ifndef RTI_FOOTPRINT_H
#define RTI_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/member/memory_model.h"
#include "tree/pure/mapped.h"

/* Part of a sum by which it may be off, and still be as good as one that was read just now. */
#define RTI_MEMORY_DOUBT 100
/* A read this old is made again. */
#define RTI_MEMORY_REFRESH_NS UINT64_C(10000000000)

/* What was read of members, summed up, and moved by the change of their pages since. */
struct rti_memory_reads {
	size_t known, unknown; /* members that could be looked at, and others */
	size_t without_status; /* of the known: swap and huge pages could not be read */
	/* Anonymous pages of those that share any: whether each was read, their PSS, and by how
	 * much the sharing may have moved since. */
	bool has_all;
	uint64_t shared_anon_bytes, doubt_bytes;
	bool has_all_swap; /* swap_bytes counts what several members share once */
	uint64_t swap_bytes;
	uint64_t own_anon_bytes;             /* of the other members */
	uint64_t sharer_pages, mapped_pages; /* as statm has them: a page counts for each member */
	/* When this was put, and the part of shared_anon_bytes and of sharer_pages that was read
	 * then. While nothing moves, later samples have it, too. */
	uint64_t fresh_ns, fresh_anon_bytes, fresh_pages;
	uint64_t lazy_free_bytes;
	/* Anonymous memory that this sample was to read and has not seen mapped: it may be on its
	 * way out, or have been freed lazily. */
	uint64_t unseen_bytes;
	/* PSS of all, if that was asked for and each was read in this sample. */
	bool has_pss;
	bool has_all_pss; /* each was read at some time */
	uint64_t pss_bytes;
	uint64_t oldest_ns; /* when the oldest of the reads was made */
	int error;          /* why PSS of one could not be read; 0: none */
};

struct rti_bounds {
	uint64_t bytes, low, high;
};

struct rti_footprint {
	bool is_known; /* some member could be looked at */
	bool is_exact, is_needed_exact, is_swap_exact;
	struct rti_bounds all, needed;
	uint64_t anon, shmem, file, hugetlb, swap; /* bytes */
	/* The part of an estimate that a read may refute: copies, of which faults alone are the
	 * evidence, and shared memory that a process may map several times. */
	uint64_t suspected_bytes;
	uint64_t copied_bytes; /* the copies alone */
	uint64_t rss_bytes;    /* sum over the members */
	uint64_t file_high;    /* upper bound of file */
	/* What a member that was not read at fresh_ns has of the pages that it shares: of anonymous
	 * ones, and of what it maps. */
	uint64_t fresh_ns;
	double anon_share, mapped_share;
	uint64_t pss_bytes;
	bool is_pss_read;
	uint64_t oldest_ns; /* CLOCK_MONOTONIC: when the oldest of it was read; 0: never */
	int error;          /* why it is not exact: -errno */
};

struct rti_footprint_facts {
	const struct rti_memory_reads *reads;
	const struct rti_memory_sums *sums;
	const struct rti_mapped_sum *mapped;
	bool is_merging;              /* the kernel keeps equal pages of processes once (KSM) */
	uint64_t charged_shmem_bytes; /* to the tree's own cgroup: no process need map it */
	uint64_t now_ns, page_size;
	/* Members share anonymous pages with a process outside of the tree: they have more than
	 * their PSS says. */
	bool has_outside_sharer;
	bool has_skipped; /* processes of the tree are no members yet */
	bool lacks_reads; /* what members map is to be read, and the budget does not allow it */
	int mapped_error; /* why it could not be read; 0: none */
};

/* The anonymous bytes of all members by what was read. */
uint64_t rti_anon_read(const struct rti_memory_reads *reads);

/* Whether the members can hold what was read: not less than what they hold for themselves, nor more
 * than if they shared nothing that they may not share. It is impossible if a process was being
 * forked, or ended, while they were read. */
bool rti_reads_are_possible(const struct rti_memory_reads *reads,
                            const struct rti_memory_sums *sums, uint64_t page_size);

/* Whether the sum is as good as if it had been read just now: its bounds are within a hundredth. If
 * it is not, it is read again. */
bool rti_reads_are_within_doubt(const struct rti_memory_reads *reads);

struct rti_footprint rti_footprint_of(const struct rti_footprint_facts *facts);

#endif
