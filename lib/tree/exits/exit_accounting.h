/* SPDX-License-Identifier: MIT */
/* The members that have exited, and the accounts that hold what they used. */
#ifndef RTI_EXIT_ACCOUNTING_H
#define RTI_EXIT_ACCOUNTING_H

#include "tree/state/state.h"

/* All members were read, children before their parents. Find the ones that have exited meanwhile,
 * and read again the accounts that may hold them. */
void rti_exits_reconcile(struct rti_tree *tree);

/* Attribute what exited members used to the accounts that hold it. They stay members until the
 * sums are made. */
void rti_exits_account(struct rti_tree *tree);

/* Before the sums are made: note if this sample lacks a process that has the pid of a member that
 * has exited. Costs a system call for each such member, and a read of stat if the pid is in use. */
void rti_exits_check_pids(struct rti_tree *tree);

/* The last values that were read of an exited member stay in the totals. What could not be read of
 * it is lost, but for the domains that are known from elsewhere. */
void rti_exits_note_kept(struct rti_tree *tree, struct rti_member *m, uint64_t known);

/* Whether a member is our own supervisor with its final account, which is exact, and has all that
 * it had reaped by then. */
bool rti_is_final_account_current(const struct rti_supervised_state *s, const struct rti_member *m);

/* How many CPU times of a member in the totals were read in whole clock ticks. */
uint8_t rti_times_in_ticks(const struct rti_ledger *ledger,
                           const struct rti_supervised_state *supervised,
                           const struct rti_member *m);

#endif
