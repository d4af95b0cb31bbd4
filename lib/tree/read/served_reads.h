/* SPDX-License-Identifier: MIT */
/* Reads from file systems that another process or machine serves. */
#ifndef RTI_SERVED_READS_H
#define RTI_SERVED_READS_H

#include <rtrack/rtrack.h>

#include "tree/state/state.h"

/* To be called after the I/O of a member was read. Costs no system call unless the member has read
 * 1 MiB or mapped 4 MiB of files since the last call, and next to nothing of it from storage. */
void rti_served_reads_look(struct rti_tree *tree, struct rti_member *m);

/* The same for all that no member was looked at for, by the totals: it is of members that have
 * ended. */
void rti_served_reads_look_at_ended(struct rti_tree *tree, const struct rt_metrics *totals);

#endif
