/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment: by PSS that was read where that is known well enough, else by
 * the model. */
#ifndef RTI_MEMORY_H
#define RTI_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "collect/status.h"
#include "tree/executables.h"
#include "tree/memory_model.h"

struct rti_tree;
struct rti_pss_sum;

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
	struct rti_memory_moment moment;
};

/* A member was looked at. */
void rti_memory_note(struct rti_tree *tree, struct rti_member *m,
                     const struct rti_memory_look *look);

/* Read the pages of a member once more, after its faults: the counts belong together then, unless it
 * has run meanwhile. Returns 0 or -errno. */
int rti_memory_look_again(struct rti_tree *tree, struct rti_member *m,
                          struct rti_memory_look *look);

/* Whether the faults of a member are needed each time that it has run. */
bool rti_memory_needs_stat(const struct rti_tree *tree, const struct rti_member *m);

/* A member has ended. */
void rti_memory_forget(struct rti_tree *tree, struct rti_member *m);

/* Take over what this sample has read of the members, read PSS if that is due, and find out how
 * much memory the tree holds. */
void rti_memory_sample(struct rti_tree *tree);

/* The same for a peak poll that has noted all members. A read would hold up the polls, so PSS is
 * read only if samples are rare, and if this may be a peak: above peak_bytes. */
void rti_memory_poll(struct rti_tree *tree, uint64_t peak_bytes);

/* Fill the fields about PSS, after the sums. */
void rti_memory_set_figures(const struct rti_tree *tree, struct rti_status *status,
                            struct rt_metrics *out);
/* The same for one member. */
void rti_memory_set_row(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out);

/* Whether what was read is still good as a sum: within a hundredth. */
bool rti_memory_is_within_doubt(const struct rti_pss_sum *sum);

void rti_memory_free(struct rti_tree *tree);

#endif
