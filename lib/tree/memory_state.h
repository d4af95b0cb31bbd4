/* SPDX-License-Identifier: MIT */
/* What is known of the memory of a tree. Its functions are in memory.h. */
#ifndef RTI_MEMORY_STATE_H
#define RTI_MEMORY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/executables.h"
#include "tree/memory_model.h"

struct rti_memory_moment {
	bool is_known; /* some member could be looked at */
	uint64_t bytes, low_bytes, high_bytes;
	uint64_t rss_bytes;        /* sum over the members */
	uint64_t shared_max_bytes; /* of files and shared memory: most of one member */
	uint32_t source;           /* RT_PSS_ value; 0: there is no figure */
	bool is_exact;             /* all of it was read, and nothing has changed since */
	uint64_t oldest_ns;        /* CLOCK_MONOTONIC: when the oldest of it was read; 0: never */
	int error;                 /* why it is not exact: -errno */
};

/* Written by memory.c, but for next_read: pss_read.c. */
struct rti_memory_state {
	bool is_modelled; /* PSS or the peak of the tree is wanted */
	bool may_read;    /* PSS may be read */
	/* The root was forked by a process outside the tree, and may share with that. */
	bool has_outside_sharer;
	/* Processes that are not members share, and their forks and ends are not seen. So only what
	 * was read in this sample is exact. */
	bool needs_fresh_reads;
	uint64_t drift; /* pages that members have come to share, or shared no longer, so far */
	struct rti_executables executables;
	size_t next_read;     /* the member to read first if not all can be */
	uint64_t tried_ns;    /* when reads were tried last */
	uint64_t next_try_ns; /* before that, the budget does not allow to read what is due */
	/* Since when reads have shown less than members hold, and the members found by then; 0:
	 * they do not. */
	uint64_t contradicted_ns, contradicted_added;
	struct rti_memory_sums sums;
	/* The shares of the members, times this, add up to the estimate of the anonymous pages. */
	double share_scale;
	struct rti_memory_moment moment;
};

#endif
