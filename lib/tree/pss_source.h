/* SPDX-License-Identifier: MIT */
/* Where the PSS of a member comes from, as of the last sample. */
#ifndef RTI_PSS_SOURCE_H
#define RTI_PSS_SOURCE_H

#include "tree/state.h"

/* Returns an RT_PSS_ value, or 0 if there is no PSS. */
uint32_t rti_pss_source(const struct rti_tree *tree, const struct rti_member *m);

/* Returns how old it is; 0 if it was read in that sample. */
uint64_t rti_pss_age_ns(const struct rti_tree *tree, const struct rti_member *m);

#endif
