/* SPDX-License-Identifier: MIT */
/* The PSS of members: which ones to read now, and what is known of them since. */
#ifndef RTI_PSS_READ_H
#define RTI_PSS_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/member/footprint.h"

struct rti_context;
struct rti_tree;
struct rti_member;

/* Read the PSS of all members for which it is needed and not known well enough, if the budget
 * allows that. If it can never pay for all of them, read some, to learn from. What was asked for
 * of PSS itself is read as well, unless this is a poll. *reads is as rti_memory_sum_reads() puts
 * it, and is put anew if any was read. Returns true if any was. */
bool rti_pss_read_due(struct rti_tree *tree, bool is_poll, struct rti_memory_reads *reads);

/* Read one member of which faults look like copies: it stands for the others until the budget
 * allows to read all. What that costs may be owed. Returns NULL if none is, or cannot be, read. */
struct rti_member *rti_pss_read_suspect(struct rti_tree *tree);

/* The PSS of a member now: as read, and moved by what it has mapped or released since. */
uint64_t rti_pss_now(const struct rti_context *ctx, const struct rti_member *m);

/* The expected CPU time of reading the pages of a member. last: of that file; more_ns: what that
 * takes beside its pages. */
uint64_t rti_pss_cost_ns(const struct rti_tree *tree, const struct rti_member *m,
                         const struct rti_page_read *last, uint64_t more_ns);

/* The sum over all members by what was read. */
void rti_memory_sum_reads(const struct rti_tree *tree, struct rti_memory_reads *out);

#endif
