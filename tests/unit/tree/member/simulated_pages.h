/* SPDX-License-Identifier: MIT */
/* Simulated processes of which the test knows every anonymous page, and what the memory model makes
 * of their statm and stat. */
#ifndef SIMULATED_PAGES_H
#define SIMULATED_PAGES_H

#include "tree/member/member_table.h"
#include "tree/member/memory_model.h"

#define PAGES_PROCESSES 8
#define FIRST_PID 100     /* of process 0; the others follow */
#define PAGES_OF_ONE 4096 /* at most */

struct pages_process {
	bool is_alive, is_known, is_forked;
	int parent;                   /* -1: none that is alive */
	uint32_t pages[PAGES_OF_ONE]; /* numbers; one page may be in several processes */
	size_t count;
	uint64_t shared_pages, faults, stack;
	unsigned forked_at; /* after so many looks */
};

struct pages_world {
	struct pages_process p[PAGES_PROCESSES];
	uint32_t last_page;
	uint64_t last_stack;
	struct rti_member_table table;
	struct rti_memory_sums sums; /* of the last look */
	double copied;               /* part of the faults that is taken for copies */
	unsigned seed, looks;
};

extern struct pages_world world;

/* Begin and end a test. */
void pages_set_up(void);
void pages_tear_down(void);

/* Returns a random number from 0 to limit - 1. */
unsigned pages_random(unsigned limit);

/* --- What processes do. Each is named by its index. --- */

/* Start a process that has executed a program, with so many pages. */
void pages_start(int i, size_t count);
void pages_fork(int parent, int child);
/* Execute another program. */
void pages_execute(int i, size_t count);
/* Map so many pages more. */
void pages_grow(int i, size_t count);
/* Free so many pages, from the oldest on, since these are inherited. */
void pages_release(int i, size_t count);
/* Write to pages: each that is shared is copied. If no other process has it any more, the page is
 * just made writable. Each is a fault. */
void pages_write(int i, size_t first, size_t count);
void pages_end(int i);

/* Returns how many pages all processes have together. */
uint64_t pages_count(void);

/* --- What the library sees. --- */

/* Returns the member, or NULL. */
struct rti_member *pages_member(int i);

/* Returns what the files of a process say. */
struct rti_memory_look pages_look_at(int i);

/* Tell the model of a process that was found. */
void pages_join(int i, const struct rti_memory_look *look);

/* Look at all processes, parents first, so a child must have a higher index. Sums up. */
void pages_look(void);

/* Assert that the bounds hold the truth and the estimate. */
void pages_check_bounds(void);

#endif
