/* SPDX-License-Identifier: MIT */
/* The figures of a cgroup: the kernel's own account of it, and its members, which form a tree
 * without a root. */
#ifndef RTI_CGROUP_TRACKER_H
#define RTI_CGROUP_TRACKER_H

#include "cgroup/account.h"
#include "os/cgroup/cgroup_members.h"
#include "tree/tree.h"

/* Written by cgroup.c only. */
struct rti_cgroup_tracker {
	const struct rti_context *ctx; /* the tracker's */
	struct rti_cgroup_places places;
	struct rti_cgroup_members members;
	struct rti_tree *tree; /* of the members; NULL: nothing of them is wanted */
	struct rti_cgroup_account account;
	uint64_t want;
	struct rt_metrics last; /* what was known before the cgroup was removed */
	bool is_removed;
	bool has_fault_account; /* the kernel accounts for page faults, or has done so */
};

/* Follow the cgroup that has a name (rti_cgroup_find()). ctx must live as long as the tracker. opts
 * is for its tree, without a list. Returns 0 or -errno. On failure nothing stays open. */
int rti_cgroup_tracker_init(struct rti_cgroup_tracker *cgroup, const struct rti_context *ctx,
                            const char *name, const struct rti_tree_opts *opts);
void rti_cgroup_tracker_free(struct rti_cgroup_tracker *cgroup);

/* Fill the figures of a sample. Returns 0, or -ESRCH if the cgroup has been removed; out holds the
 * totals in both cases. */
int rti_cgroup_tracker_sample(struct rti_cgroup_tracker *cgroup, uint64_t now_ns,
                              struct rt_metrics *out);

/* Say why a domain that is wanted is not complete in last, which is the last sample. */
void rti_cgroup_tracker_explain(const struct rti_cgroup_tracker *cgroup,
                                const struct rt_metrics *last, uint64_t has,
                                struct rti_explanation *out);

/* RT_HAS_ bits that cgroups have. */
uint64_t rti_cgroup_tracker_domains(void);

#endif
