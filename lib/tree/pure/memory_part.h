/* SPDX-License-Identifier: MIT */
/* The memory of one member of a tree. Its functions are in memory_model.h. */
#ifndef RTI_MEMORY_PART_H
#define RTI_MEMORY_PART_H

#include <stdbool.h>
#include <stdint.h>

/* What the files of a process say of its memory at one moment, and how far that can be trusted. */
struct rti_memory_look {
	uint64_t rss_pages, shared_pages; /* statm; shared: of files and of shared memory */
	uint64_t size_pages;              /* statm: mapped */
	uint64_t shmem_pages; /* status, seldom read: the part of shared that is no file */
	uint64_t faults;      /* stat: minor ones */
	uint64_t stack;       /* stat: new with each exec */
	uint64_t at_ns;       /* CLOCK_MONOTONIC */
	bool is_forked;       /* and has not executed a program */
	bool is_late;         /* what happened to its parent since the fork is not known */
	bool is_torn;         /* it ran between the reads of statm and stat */
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
	/* Of a member that has inherited from no member: those that share with it, over any number
	 * of forks. Counted by rti_memory_count_relatives(), and kept until then. */
	uint32_t relatives;
	bool has_given;
};

/* The memory of one member. Written by memory_model.c; is_unknown, executable, has_parents_space
 * and the faults of a member without relatives by memory_note.c. */
struct rti_memory_part {
	struct rti_memory_look look;
	bool is_unknown : 1;        /* its files could not be read; what follows is of before */
	bool is_present : 1;        /* it has memory, and counts */
	bool has_parents_space : 1; /* it runs in the address space of its parent: vfork */
	/* It shares no page with a parent: it executed a program, or took the place of a member
	 * that did. */
	bool is_founder : 1;
	bool has_before : 1;  /* a look before the last one */
	int executable;       /* index in rti_executables; -1: unknown */
	int32_t parent;       /* member that it shares anonymous pages with; 0: none */
	uint32_t forked;      /* members that share anonymous pages with it as their parent */
	uint64_t inherited;   /* anonymous pages that it had in common with its parent */
	uint64_t found_pages; /* anonymous pages that it had when it was found */
	/* Pages copied so far: since its fork, or since it has forked. counted: the look as of
	 * which that is. */
	uint64_t copies;
	struct rti_memory_count counted;
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

#endif
