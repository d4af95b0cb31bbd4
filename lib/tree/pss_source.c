/* SPDX-License-Identifier: MIT */
/* Where the PSS of a member comes from, as of the last sample. */
#include "tree/pss_source.h"

/* A member that has not run was not read again. */
uint32_t rti_pss_source(const struct rti_tree *tree, const struct rti_member *m)
{
	uint32_t source = m->values.figures.row.pss_source;
	bool is_old = source == RT_PSS_READ && m->values.pss.read.at_ns < tree->sampled_ns;

	return is_old ? RT_PSS_CACHED : source;
}

uint64_t rti_pss_age_ns(const struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t read_ns = m->values.pss.read.at_ns;

	return rti_pss_source(tree, m) == RT_PSS_CACHED && read_ns ? tree->sampled_ns - read_ns : 0;
}
