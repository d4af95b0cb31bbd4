/* SPDX-License-Identifier: MIT */
/* The programs that the members of a tree run, and the file-backed pages that they map. Pure
 * arithmetic.
 *
 * Processes of one program map mostly the same pages of files: its code and its libraries. So these
 * pages count once for each program, by the member that maps most of them. All programs map a few
 * libraries alike, such as libc: the program that maps least stands for these, and they count once.
 * Shared memory counts as pages of files do. What members really share of such pages shows when
 * their PSS is read. That is kept for each program.
 * E.g.: two shells that map 3 MiB and a compiler of 9 MiB: 3 + 9 - 3 = 9 MiB. */
#ifndef RTI_EXECUTABLES_H
#define RTI_EXECUTABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_executable {
	uint64_t key;     /* names the program */
	uint32_t members; /* that run it; 0: the entry is free */
	/* largest_pages minus the PSS of all members of the program, when that was read. Above 0:
	 * others share these pages. Below 0: its members map different pages. */
	bool is_measured;
	double missing_pages;
	/* Of the current sum. */
	uint64_t largest_pages, all_pages; /* of one member; of all */
	uint64_t measured_pages;           /* all pages of members that were read now */
	double measured_share;             /* what these have by PSS */
};

/* Written by executables.c only. */
struct rti_executables {
	struct rti_executable *entries;
	size_t count, capacity;
};

void rti_executables_free(struct rti_executables *table);

/* A member runs the program with this key. Returns the index of its entry, or -ENOMEM. */
int rti_executables_enter(struct rti_executables *table, uint64_t key);
/* Returns the index of the entry of a program that some member runs, or -1. */
int rti_executables_find(const struct rti_executables *table, uint64_t key);
/* The same as enter for a forked member. */
void rti_executables_enter_again(struct rti_executables *table, int index);
/* A member has ended, or runs another program. */
void rti_executables_leave(struct rti_executables *table, int index);

/* Sum up: open, add the pages of each member. */
void rti_executables_open(struct rti_executables *table);
void rti_executables_add(struct rti_executables *table, int index, uint64_t pages);
/* Returns the estimate of the pages that all members map together. */
uint64_t rti_executables_pages(const struct rti_executables *table);
/* Returns which part of its pages a member has of the estimate of its program, 0 to 1. */
double rti_executables_share(const struct rti_executables *table, int index);

/* Learn from members with a PSS that was read just now: what they map, and what they have of it.
 * After the sum was opened and all members were added. */
void rti_executables_measure(struct rti_executables *table, int index, uint64_t pages,
                             uint64_t pss_pages);
void rti_executables_learn(struct rti_executables *table);

#endif
