/* SPDX-License-Identifier: MIT */
/* What the cgroup of the caller uses, and what it is limited to: figures for a tracker of the
 * system (RT_OPT_OWN_LIMITS). */
#ifndef RTI_OWN_LIMITS_H
#define RTI_OWN_LIMITS_H

#include "cgroup/account.h"

/* Written by own_limits.c only. */
struct rti_own_limits {
	struct rti_cgroup_places places;
	struct rti_cgroup_account account;
	uint64_t want;
	int find_error; /* why the cgroup was not found: -errno */
};

/* RT_HAS_ bits that it provides. */
uint64_t rti_own_limits_domains(void);

/* Find the cgroup that the caller is in now. If there is none, or it cannot be found, its figures
 * stay unknown. Returns 0 or -ENOMEM. On failure nothing stays open. */
int rti_own_limits_init(struct rti_own_limits *own, const struct rti_context *ctx, uint64_t want);
void rti_own_limits_free(struct rti_own_limits *own, const struct rti_context *ctx);

/* Add the figures of a sample to those of the system. */
void rti_own_limits_sample(struct rti_own_limits *own, const struct rti_context *ctx,
                           struct rt_metrics *out);

/* Say why a domain that is wanted is not complete in last, which is the last sample. */
void rti_own_limits_explain(const struct rti_own_limits *own, const struct rt_metrics *last,
                            uint64_t has, struct rti_explanation *out);

#endif
