/* SPDX-License-Identifier: MIT */
/* Reading one member of a tree: what is due of it, and in which order. */
#ifndef RTI_READING_H
#define RTI_READING_H

#include "tree/tree.h"

/* What a sweep is to ask of a member, for a sample and for a glance. tree: a struct rti_tree. */
void rti_request_sample(const void *tree, const struct rti_member *m,
                        struct rti_batch_request *out);
void rti_request_peak_poll(const void *tree, const struct rti_member *m,
                           struct rti_batch_request *out);

/* Read a member and post its account. Afterwards it is gone, or read_at has moved. Who has not
 * run since the last time is taken to be as he was then. */
void rti_read_member(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m,
                     struct rti_status *status);

/* The same, whether it seems to have run or not: the clock of a process that is just running may
 * lag by a tick, and it may have reaped somebody in that time. */
void rti_force_read_member(struct rti_tree *tree, const struct rti_context *ctx,
                           struct rti_member *m, struct rti_status *status);

/* The account alone of a member that was not read yet. It may be gone by the next sample: then the
 * ledger has to know what it had used. */
void rti_read_account(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m);

/* RSS alone, at any time: what the last glance saw where it has not run since. 0 where it has
 * none. */
uint64_t rti_read_rss(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m);

/* Read PSS alone, whatever the budget says, and charge it. 0, or -errno. */
int rti_read_pss(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m,
                 uint64_t rss_bytes);

#endif
