/* SPDX-License-Identifier: MIT */
/* The kernel's own account of a cgroup: runs the collectors of cgroups. */
#ifndef RTI_CGROUP_ACCOUNT_H
#define RTI_CGROUP_ACCOUNT_H

#include "collect/cgroup_collector.h"

/* Written by account.c only. */
struct rti_cgroup_account {
	void **states; /* of rti_cgroup_collectors; NULL: not wanted */
	struct rti_cgroup_obstacles obstacles;
};

/* Open the collectors that provide what want asks for (RT_HAS_ bits). Returns 0 or -ENOMEM; free it
 * in both cases. */
int rti_cgroup_account_init(struct rti_cgroup_account *account, uint64_t want);
void rti_cgroup_account_free(struct rti_cgroup_account *account, const struct rti_context *ctx);

/* Fill the figures of a sample. Returns true if a directory of the cgroup has been removed. */
bool rti_cgroup_account_read(struct rti_cgroup_account *account, const struct rti_context *ctx,
                             const struct rti_cgroup_places *places, uint64_t want,
                             struct rt_metrics *out);

/* Set why a domain was not read in the last sample. Returns false if no collector has met an
 * obstacle. */
bool rti_cgroup_account_explain(const struct rti_cgroup_account *account, uint64_t has,
                                struct rti_explanation *out);

#endif
