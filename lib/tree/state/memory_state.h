/* SPDX-License-Identifier: MIT */
/* What is known of the memory of a tree. */
#ifndef RTI_MEMORY_STATE_H
#define RTI_MEMORY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/member/footprint.h"
#include "tree/member/memory_model.h"
#include "tree/pure/mapped.h"

/* Which members PSS is read of, and when. Written by pss_read.c; memory_note.c has reads tried
 * again. */
struct rti_pss_rounds {
	size_t next; /* the member to read first if not all can be */
	/* Before that, the budget does not allow to read what is due, or the PSS of all. */
	uint64_t next_try_ns, next_pss_ns;
};

/* Written by memory.c, but for mapped and has_outside_sharer: memory_note.c, too; mapped_sum,
 * repeated_bytes shmem_max_bytes and images_*: image_read.c. */
struct rti_memory_state {
	bool is_modelled; /* the footprint, PSS or a peak of the tree is wanted */
	bool may_read;    /* page tables may be walked */
	bool reads_pss;   /* of all members, in each sample */
	bool is_merging;  /* the kernel merges equal pages of processes (KSM) */
	bool is_forced;   /* this sample reads what its figures rest on, whatever that takes */
	int32_t root_pid;
	/* The root was forked by a process outside the tree, and may share with that. */
	bool has_outside_sharer;
	/* Since the last sample or poll: a member that shared pages has left; shared memory that no
	 * read had shown was unmapped. */
	bool has_left, has_unmapped;
	/* And one of those that are suspected of copies was read, for all. */
	bool has_corrected;
	/* Of one member, the most so far: pages of files that it maps several times, by what was
	 * read, and shared memory. */
	uint64_t repeated_bytes, shmem_max_bytes;
	/* Shared memory and tmpfs that the tree's own cgroup is charged for, and until when that is
	 * good. */
	uint64_t charged_shmem_bytes, outside_until_ns;
	struct rti_mapped mapped;
	struct rti_mapped_sum mapped_sum;
	/* Since when reads have not been possible, and the members found by then; 0: they are. */
	uint64_t contradicted_ns, contradicted_added;
	/* How long this sample or peak poll took until all members were looked at, 0 if that was
	 * not measured; and the longest so far. */
	uint64_t took_ns, longest_ns;
	/* Anonymous pages that members have come to share, or share no longer, so far. What was
	 * read of PSS before is off by as much. Counted up by memory_note.c and pss_read.c, too. */
	uint64_t drift;
	/* Counts up whenever anything changes that the sums are made of: what is known of the
	 * memory of a member, or what was read of it. Likewise. */
	uint64_t changes;
	double copied_part; /* of the faults that may be copies: see rti_memory_update() */
	struct rti_memory_sums sums;
	struct rti_memory_reads reads; /* what was read, summed up last */
	uint64_t summed_changes;       /* changes by then */
	/* Changes by the last look for images to read, and when to look again without any. */
	uint64_t images_changes, images_next_ns;
	bool lacks_images; /* the budget does not allow to read one */
	int images_error;  /* why one cannot be read: 0 or -errno */
	struct rti_footprint moment;
	struct rti_pss_rounds rounds; /* written by pss_read.c */
};

#endif
