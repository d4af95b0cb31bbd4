/* SPDX-License-Identifier: MIT */
/* How much memory a tree holds, by what was read of PSS and by the model. Pure arithmetic.
 *
 * What was read is exact while the sharing of pages has hardly changed since. If it has changed a
 * little, it is still the better estimate. Else the estimate is that of the model.
 * E.g.: a tree of 400 MiB was read, and then forks a process: what was read is stale, and the model
 * says 400 MiB. */
#ifndef RTI_MEMORY_JUDGE_H
#define RTI_MEMORY_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/member/memory_model.h"

/* Part of a sum by which it may be off, and still be as good as one that was read just now. */
#define RTI_PSS_DOUBT 100
/* A read this old is made again. */
#define RTI_PSS_REFRESH_NS UINT64_C(10000000000)
/* Since a read older than this, other processes may have mapped or unmapped what members have
 * mapped of files. Less than the 100 ms that are usual between samples. */
#define RTI_PSS_OUTSIDE_NS UINT64_C(90000000)

/* What was read of PSS, summed up over all members, and moved by the change of RSS since. */
struct rti_pss_sum {
	bool has_all;          /* every member was read */
	size_t known, unknown; /* members that could be looked at, and others */
	uint64_t bytes;
	uint64_t anon_bytes;
	bool has_kinds;       /* anon_bytes is known */
	uint64_t doubt_bytes; /* how far members' sharing may have moved since */
	/* By how much it changes if one process outside of the tree maps or unmaps what members
	 * have mapped of files and shared memory. */
	uint64_t outside_bytes;
	uint64_t oldest_ns; /* when the oldest of the reads was made */
	int error;          /* why one could not be read; 0: none */
};

/* The memory of a tree at one moment. */
struct rti_memory_moment {
	bool is_known; /* some member could be looked at */
	uint64_t bytes, low_bytes, high_bytes;
	/* Parts of an estimate: copies, of which faults are the evidence; and files and shared
	 * memory. */
	uint64_t copied_bytes, file_bytes;
	uint64_t rss_bytes;        /* sum over the members */
	uint64_t shared_max_bytes; /* of files and shared memory: most of one member */
	uint32_t source;           /* RT_PSS_ value; 0: there is no figure */
	bool is_exact;             /* all of it was read, and nothing has changed since */
	uint64_t exact_until_ns;   /* CLOCK_MONOTONIC: if no member changes */
	uint64_t oldest_ns;        /* CLOCK_MONOTONIC: when the oldest of it was read; 0: never */
	int error;                 /* why it is not exact: -errno */
};

struct rti_memory_facts {
	const struct rti_pss_sum *read;
	const struct rti_memory_sums *sums;
	uint64_t file_pages; /* the estimate of the pages of files and of shared memory */
	uint64_t now_ns, page_size;
	/* Processes that are not members share, and their forks and ends are not seen. */
	bool needs_fresh_reads;
	/* Such a process has mapped shared memory that members have mapped. */
	bool has_outside_shmem;
	bool is_contradicted; /* what was read is not possible */
	bool has_skipped;     /* processes of the tree are no members yet */
};

/* Whether the members can hold what was read: not less than what they hold for themselves, nor more
 * than if they shared nothing that they may not share. It is impossible if a process was being
 * forked, or ended, while they were read. */
bool rti_memory_is_possible(const struct rti_pss_sum *read, const struct rti_memory_sums *sums,
                            uint64_t page_size);

/* Whether the sum is as good as if it had been read just now: within a hundredth. Only what members
 * have done since counts. */
bool rti_memory_is_within_doubt(const struct rti_pss_sum *read);

/* Until when the sum is that good if members do nothing. */
uint64_t rti_memory_good_until_ns(const struct rti_pss_sum *read);

/* low_bytes <= bytes <= high_bytes. All three are the same if it is exact, unless processes were
 * skipped: then high_bytes is UINT64_MAX. */
struct rti_memory_moment rti_memory_judge(const struct rti_memory_facts *facts);

/* The sums alone, without PSS or an estimate of it. */
struct rti_memory_moment rti_memory_judge_rss(const struct rti_memory_sums *sums,
                                              uint64_t page_size);

#endif
