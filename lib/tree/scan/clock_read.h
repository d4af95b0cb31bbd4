/* SPDX-License-Identifier: MIT */
/* The CPU clocks of members: by one batch read, or one system call for each. */
#ifndef RTI_CLOCK_READ_H
#define RTI_CLOCK_READ_H

#include "tree/state/state.h"

/* Read the clocks of all members, and their rows where there is a batch reader. ask says what
 * the rows are to have. */
void rti_read_clocks(struct rti_tree *tree, rti_batch_ask *ask);

/* The same of the members in a set. */
void rti_read_clocks_of(struct rti_tree *tree, const struct rti_index_set *set, rti_batch_ask *ask);

/* Read the clocks of the members from number first on, without rows. */
void rti_read_clocks_from(struct rti_member_table *table, const struct rti_context *ctx,
                          size_t first);

/* Read the clock of one member anew. */
void rti_read_clock(const struct rti_context *ctx, struct rti_member *m);

/* The same. Returns whether that shows that the process has exited and was reaped: it has no clock
 * any more, or one that stands before where it stood when the member was read, of another process
 * with its pid. Needs no file. */
bool rti_clock_shows_exit(const struct rti_member_table *table, const struct rti_context *ctx,
                          struct rti_member *m);

#endif
