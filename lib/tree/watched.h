/* SPDX-License-Identifier: MIT */
/* Which members a sample has to look at, where programs in the kernel watch the tree: those that
 * have run since the last sample, and those of which something is due. All others are as they were.
 *
 * The programs cost a fraction of a microsecond at each switch between threads, of all programs on
 * the machine. So they are loaded only where that is less than looking at each member costs. E.g.:
 * a tree of 20,000 processes that is sampled once a second, while the CPUs switch 5000 times. */
#ifndef RTI_WATCHED_H
#define RTI_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/batch_read.h"

struct rti_tree;

/* How long after a search of all threads that took so much CPU time the next one comes. Pure. */
uint64_t rti_watched_check_ns(uint64_t cost_ns);

/* How long members wait for one look in turn, in a tree of so many. Pure. */
uint64_t rti_watched_turn_ns(size_t members);

/* A sample begins. Returns whether it is a partial one. */
bool rti_watched_begin(struct rti_tree *tree);

/* For a partial sample: find new members, and read the CPU clocks of those to look at. ask says
 * what their batch rows are to have. */
void rti_watched_discover(struct rti_tree *tree, rti_batch_ask *ask);

/* Take what has changed since. Members that have ended meanwhile are among those to look at. */
void rti_watched_look_again(struct rti_tree *tree);

/* The sample is complete. */
void rti_watched_end(struct rti_tree *tree);

void rti_watched_free(struct rti_tree *tree);

#endif
