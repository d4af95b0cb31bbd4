/* SPDX-License-Identifier: MIT */
/* What the own cgroup uses of what it is allowed to use, in samples of the system. */
#ifndef OWN_LIMITS_H
#define OWN_LIMITS_H

#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

struct own_limits {
	double cores;                /* between two samples; negative: unknown */
	double cpus_allowed;         /* negative: there is no limit, or it is unknown */
	uint64_t memory_bytes;       /* UINT64_MAX: unknown */
	uint64_t memory_limit_bytes; /* UINT64_MAX: there is none, or it is unknown */
};

/* Take them from a sample and from the difference that ends with it. */
struct own_limits own_limits_of(const struct rt_metrics *m, const struct rt_delta *d);

/* Add "of 0.5 CPUs allowed". */
void own_limits_add_cpus(struct text *out, double cpus_allowed);

#endif
