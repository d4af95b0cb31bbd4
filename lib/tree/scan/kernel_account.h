/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree: BPF programs count what each thread has used, from the start of a
 * command, or from the moment at which a tracker has attached to a running tree.
 *
 * The figures of live members are read as without it: from /proc, or by a batch read. The account
 * adds what no sample can see: all that members used between their last read and their end, and the
 * processes that lived between two samples, whether any process has waited for them or not.
 *
 * The programs of a command are its own: it has loaded them, and takes their records. */
#ifndef RTI_KERNEL_ACCOUNT_H
#define RTI_KERNEL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct rti_discovery_state;
struct rti_kernel_account;
struct rti_tree;
struct rti_tree_account;

/* Load the programs and take in the tree below root, before its first sample. Takes 20 to 60 ms.
 * Returns 0; or -errno, as rti_account_open(): the tree is as before. */
int rti_kernel_account_open(struct rti_kernel_account *account, int32_t root);

/* The programs of a command count the tree from its start. They stay the command's, which keeps
 * them for longer than the tree. NULL: there are none. */
void rti_kernel_account_follow(struct rti_kernel_account *account,
                               struct rti_tree_account *of_command);

/* How many processes a command has had so far, by its programs; 0: the tree has no command
 * with programs. *is_whole: whether none was missed; may be NULL. Costs no system call. */
uint64_t rti_kernel_account_processes(const struct rti_kernel_account *account, bool *is_whole);

/* All members were read: read the account, and apply it to the totals of this sample. The last
 * samples of a command wait until its threads have left their CPU, for 2 s at most. */
void rti_kernel_account_sample(struct rti_tree *tree);

/* Forget what was counted, and unload the programs unless they are the command's. The members are
 * found by scans from then on. */
void rti_kernel_account_free(struct rti_kernel_account *account, struct rti_discovery_state *d);

#endif
