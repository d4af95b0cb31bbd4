/* SPDX-License-Identifier: MIT */
/* What BPF programs have counted, in the outcome of a command. Nothing at another accounting method
 * than RT_ACCOUNTING_BPF. */
#ifndef RTI_BPF_OUTCOME_H
#define RTI_BPF_OUTCOME_H

#include "command/handle.h"

/* Mark what the account knows in an outcome that is complete otherwise. */
void rti_bpf_outcome_set(const struct rt_command *c, struct rt_outcome *out);

/* Add a row for each process that has ended, and what is known of those that run. */
void rti_bpf_outcome_list(struct rt_command *c);

#endif
