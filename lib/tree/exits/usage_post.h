/* SPDX-License-Identifier: MIT */
/* What members have used by a peak poll, into their accounts: a member may have exited by the next
 * sample, and then the ledger has to know. */
#ifndef RTI_USAGE_POST_H
#define RTI_USAGE_POST_H

#include "tree/state/state.h"

/* Raise the account of a member to its CPU clock, which was read in this poll; and to its faults if
 * they are at hand. A member that was not read yet has its account read. To be called after
 * rti_read_statm(), which proves that the clock is the member's: otherwise one more file is read of
 * a member that has run. */
void rti_post_usage(struct rti_tree *tree, struct rti_member *m);

#endif
