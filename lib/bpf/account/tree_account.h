/* SPDX-License-Identifier: MIT */
/* The account of a process tree by BPF programs in the kernel, which a plug-in loads: where it is
 * installed, the kernel can run them and we may load them.
 *
 * Owner: one command or tree. After a fork the child has to close its copy: other calls return
 * -ESTALE. The programs go away with their last descriptor, so also if the process is killed. */
#ifndef RTI_TREE_ACCOUNT_H
#define RTI_TREE_ACCOUNT_H

#include "bpf/account/account.h"

struct rti_tree_account;

/* Find the plug-in and load the programs, which takes 10 ms or more. Returns 0; -ENOPKG if there is
 * no plug-in of this release, or the program is linked statically; -EPERM if we may not;
 * -EOPNOTSUPP if the kernel lacks something; -ESRCH if there is no such root; -EBUSY if its tree
 * grows faster than it can be taken in; or another -errno. */
int rti_account_open(struct rti_tree_account **out, const struct rti_account_request *request);

/* As in struct rti_account_ops. */
int rti_account_arm(struct rti_tree_account *account, bool is_armed);
int rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out);
int rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker);
int rti_account_list_running(struct rti_tree_account *account,
                             const struct rti_account_taker *taker);
void rti_account_count(const struct rti_tree_account *account, struct rti_account_counts *out);
int rti_account_event_fd(const struct rti_tree_account *account);

/* NULL is allowed. */
void rti_account_close(struct rti_tree_account *account);

#endif
