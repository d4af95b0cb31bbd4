/* SPDX-License-Identifier: MIT */
/* The members that this sample looks at: all of them, or of a watched tree those that have run and
 * those of which something is due. */
#ifndef RTI_WATCH_MEMBERS_H
#define RTI_WATCH_MEMBERS_H

#include "tree/state.h"

/* A member was read, or is otherwise not as it was. */
void rti_watch_touch(struct rti_tree *tree, const struct rti_member *m);

/* The members to look at in this sample, which are all in one that is not partial. *i is moved to
 * the next one up or down. Returns false if there is none; begin with SIZE_MAX. */
bool rti_watch_up(const struct rti_tree *tree, size_t *i);
bool rti_watch_down(const struct rti_tree *tree, size_t *i);

/* The members of this sample, and those not settled in the sums, upwards from the one after
 * i. SIZE_MAX: none is left. */
size_t rti_watch_next_unsettled(const struct rti_tree *tree, size_t i);

/* Before the members that have exited are removed. */
void rti_watch_remove_exited(struct rti_tree *tree);

/* A look at a member has shown it as it was: this sample has nothing more to do with it. */
void rti_watch_note_idle(struct rti_tree *tree, const struct rti_member *m);

/* Whether something of it is due in the next sample though it does not run: a figure was put off or
 * is missing, or it waits for its parent. */
bool rti_watch_is_due_next(const struct rti_member *m);

/* A member has run since the last sample, or its clock is not known. */
void rti_watch_note_run(struct rti_tree *tree);

/* A member has exited: sums cannot be moved by differences. */
void rti_watch_note_exit(struct rti_tree *tree, const struct rti_member *m);

#endif
