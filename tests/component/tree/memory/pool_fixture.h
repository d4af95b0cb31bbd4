/* SPDX-License-Identifier: MIT */
/* A pool of fake processes, on top of the member fixture: a root that has executed a program,
 * and children that it has forked. A test says what their files show of their memory. The
 * tracker may use a thousandth of a CPU to walk page tables, so what was saved at the start lasts
 * for all reads of a test. */
#ifndef POOL_FIXTURE_H
#define POOL_FIXTURE_H

#include "tree/member_fixture.h"

#define ROOT 0
#define ANON 1800 /* anonymous pages of each process */
#define FILES 600 /* pages of files, and of shared memory */

/* Number i has the pid 100 + i. pid 0: it is not there. */
extern struct fake_process processes[CHILDREN + 1];

uint64_t kib(uint64_t pages);

/* Make a process. A child that is not forked has executed a program. */
void make_process(int i, bool is_forked);

/* A process executes another program. */
void execute_other_program(int i);

/* Set what the files of a process show, if so many processes share each of its pages. */
void set_pages(int i, uint64_t anon, uint64_t files, uint64_t sharers);

/* Write the files of a process. Unless it runs, changes are not looked for. */
void write_process(int i);
void run_and_write(int i);

/* Write which children the root has. */
void list_children(void);

/* Write a root with so many children, all of which share all pages. */
void write_pool(int count);

/* The same, and follow it. */
void track_pool(int count);

/* The root forks another child, or waits for one that has ended. */
void fork_child(int i);
void end_child(int i);

/* Walk no more page tables, until give_savings(). A second earns enough for some reads. */
void take_savings(void);
void give_savings(void);

/* Take a sample. Asserts what holds of any: each figure is either valid or estimated, within its
 * bounds, and the sum of its parts; and no peak falls. */
struct rt_metrics sample_pool_after(uint64_t ns);

/* Assert that the needed memory is exact, and that the footprint has so many pages. That is exact
 * only of one process: of the files, each process may map others of the pages. */
void check_exact(const struct rt_metrics *m, uint64_t anon, uint64_t files);

/* Assert that the needed memory is an estimate, with that reason. */
void check_estimate(const struct rt_metrics *m, int error);

#endif
