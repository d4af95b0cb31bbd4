/* SPDX-License-Identifier: MIT */
/* What is known of the memory of a tree. */
#ifndef RTI_MEMORY_STATE_H
#define RTI_MEMORY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/member/memory_judge.h"
#include "tree/member/memory_model.h"
#include "tree/pure/executables.h"

/* Which members PSS is read of, and when. Written by pss_read.c; memory_note.c has reads tried
 * again. */
struct rti_pss_rounds {
	size_t next;          /* the member to read first if not all can be */
	uint64_t tried_ns;    /* when the last round began */
	uint64_t next_try_ns; /* before that, the budget does not allow to read what is due */
	/* Before that, it does not spare what reading all of it anew would cost, unless something
	 * has changed since. */
	uint64_t next_spare_ns, spare_changes;
};

/* Written by memory.c, but for executables and has_outside_sharer: memory_note.c, too. The scale of
 * the shares is written by memory_figures.c, and cleared by memory.c. */
struct rti_memory_state {
	bool is_modelled; /* PSS or the peak of the tree is wanted */
	bool may_read;    /* PSS may be read */
	int32_t root_pid;
	/* The root was forked by a process outside the tree, and may share with that. */
	bool has_outside_sharer;
	/* Processes that are not members share, and their forks and ends are not seen. So only what
	 * was read in this sample is exact. */
	bool needs_fresh_reads;
	/* The last read of all members has shown that other processes have mapped shared memory of
	 * theirs. */
	bool has_outside_shmem;
	struct rti_executables executables;
	/* Since when reads have not been possible, and the members found by then; 0: they are. */
	uint64_t contradicted_ns, contradicted_added;
	/* How long this sample or peak poll took until all members were looked at, 0 if that was
	 * not measured; and the longest so far. */
	uint64_t took_ns, longest_ns;
	/* Pages that members have come to share, or share no longer, so far. What was read of PSS
	 * before is off by as much. Counted up by memory_note.c and pss_read.c, too. */
	uint64_t drift;
	/* Counts up whenever anything changes that the sums are made of: what is known of the
	 * memory of a member, or what was read of it. Likewise. */
	uint64_t changes;
	struct rti_memory_sums sums;
	uint64_t summed_changes; /* changes by then */
	/* What was read, summed up last, and as of which change and drift. */
	struct rti_pss_sum reads;
	uint64_t reads_changes, reads_drift;
	bool are_reads_lasting; /* they are the same at any time, if nothing changes */
	/* The shares of the members, times this, add up to the estimate of the anonymous pages. For
	 * rows alone, so it is found out only if there are any. */
	double share_scale;
	bool has_share_scale; /* as of the last sample */
	struct rti_memory_moment moment;
	/* What was read has set the model right just now: so much had been too much. */
	bool was_calibrated;
	uint64_t excess_copied_bytes, excess_file_bytes;
	struct rti_pss_rounds rounds; /* written by pss_read.c */
};

#endif
