/* SPDX-License-Identifier: MIT */
/* Which members a sample has to look at, where programs in the kernel watch the tree: each that has
 * run since the last sample, or has something due. All others are as they were.
 *
 * The programs cost a fraction of a microsecond at each switch between threads, of all programs on
 * the machine. So they are loaded only where that is less than looking at each member costs. E.g.:
 * a tree of 20,000 processes that is sampled once a second, while the CPUs switch 5000 times. */
#ifndef RTI_WATCHED_H
#define RTI_WATCHED_H

#include "tree/state/state.h"

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
void rti_watched_end(struct rti_watched *w, const struct rti_member_table *table, uint64_t now_ns,
                     uint64_t clocks_ns);

void rti_watched_free(struct rti_watched *w, const struct rti_context *ctx);

/* --- The members of a sample. --- */

/* A member was read, or is otherwise not as it was. */
void rti_watch_touch(struct rti_watched *w, const struct rti_member_table *table,
                     const struct rti_member *m);

/* The members to look at in this sample, which are all in one that is not partial. *i is moved to
 * the next one up or down. Returns false if there is none; begin with SIZE_MAX. */
bool rti_watch_up(const struct rti_watched *w, const struct rti_member_table *table, size_t *i);
bool rti_watch_down(const struct rti_watched *w, const struct rti_member_table *table, size_t *i);

/* The members of this sample, and those not settled in the sums, upwards from the one after
 * i. SIZE_MAX: none is left. */
size_t rti_watch_next_unsettled(const struct rti_watched *w, size_t i);

/* Before the members that have exited are removed. */
void rti_watch_remove_exited(struct rti_watched *w, const struct rti_member_table *table);

/* A look at a member has shown it as it was: this sample has nothing more to do with it. */
void rti_watch_note_idle(struct rti_watched *w, const struct rti_member_table *table,
                         const struct rti_member *m);

/* A member has run since the last sample, or its clock is unknown. */
void rti_watch_note_run(struct rti_watched *w);

/* A member has exited: sums cannot be moved by differences. */
void rti_watch_note_exit(struct rti_watched *w, const struct rti_member_table *table,
                         const struct rti_member *m);

#endif
