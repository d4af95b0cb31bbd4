/* SPDX-License-Identifier: MIT */
/* The PSS of members: which ones to read now, and what is known of them since. */
#ifndef RTI_PSS_READ_H
#define RTI_PSS_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/member/memory_judge.h"

struct rti_tree;
struct rti_member;

/* Read the PSS of all members for which it is not known well enough, if the budget allows that. If
 * it can never pay for all of them, read some, to learn from. *sum is as rti_pss_sum() puts it, and
 * is put anew if any was read. Returns true if any was. */
bool rti_pss_read_due(struct rti_tree *tree, struct rti_pss_sum *sum);

/* The PSS of a member now: as read, and moved by what it has mapped or released since. */
uint64_t rti_pss_now(const struct rti_context *ctx, const struct rti_member *m);

/* The sum over all members by what was read. */
void rti_pss_sum(const struct rti_tree *tree, struct rti_pss_sum *out);

#endif
