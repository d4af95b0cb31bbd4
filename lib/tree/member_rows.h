/* SPDX-License-Identifier: MIT */
/* Members as the lists of processes have them. */
#ifndef RTI_MEMBER_ROWS_H
#define RTI_MEMBER_ROWS_H

#include "tree/state.h"

/* Where the PSS of a member comes from as of the last sample: RT_PSS_ value, and age. */
uint32_t rti_pss_source(const struct rti_tree *tree, const struct rti_member *m);
uint64_t rti_pss_age_ns(const struct rti_tree *tree, const struct rti_member *m);

/* Report a member that has exited to the command that asked for it, if any. */
void rti_report_exit(const struct rti_tree *tree, const struct rti_member *m);

#endif
