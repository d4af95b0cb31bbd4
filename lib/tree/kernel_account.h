/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree that a tracker has attached to: BPF programs count what each
 * thread has used, from the moment of attaching. They are those of RT_ACCOUNTING_BPF.
 *
 * The figures of live members still come from where they do without it. The account adds what no
 * sample can see: all that members used between their last read and their end, and the processes
 * that lived between two samples, whether any process has waited for them or not. */
#ifndef RTI_KERNEL_ACCOUNT_H
#define RTI_KERNEL_ACCOUNT_H

#include <stdint.h>

struct rti_tree;
struct rti_tree_counted;

/* Load the programs and take in the tree below root, before its first sample. Takes 20 to 60 ms.
 * Returns 0; or -errno, as rti_account_open(): the tree is as before. */
int rti_kernel_account_open(struct rti_tree *tree, int32_t root);

/* All members were read: read the account, and apply it to the totals of this sample. */
void rti_kernel_account_sample(struct rti_tree *tree);

/* Set the totals to what the kernel has counted of the tree. NULL: that is not known. */
void rti_kernel_account_apply(struct rti_tree *tree, const struct rti_tree_counted *counted);

void rti_kernel_account_free(struct rti_tree *tree);

#endif
