/* SPDX-License-Identifier: MIT */
/* What the own cgroup uses of what it is allowed to use, in samples of the system. */
#include "own_limits.h"

#include "figures.h"

#define NO_LIMIT UINT64_MAX /* of the library */

struct own_limits own_limits_of(const struct rt_metrics *m, const struct rt_delta *d)
{
	const struct marks marks = metrics_marks(m);
	struct own_limits own = { -1, -1, UINT64_MAX, UINT64_MAX };

	if (is_known(delta_marks(d), RT_HAS_CGROUP_CPU_TIME) && d->interval_ns > 0)
		own.cores = (double)d->cgroup_cpu_ns / (double)d->interval_ns;
	if (is_known(marks, RT_HAS_CGROUP_CPU) && m->cgroup_cpu_limit_millicores != NO_LIMIT)
		own.cpus_allowed = (double)m->cgroup_cpu_limit_millicores / 1000;
	if (is_known(marks, RT_HAS_CGROUP_MEMORY)) {
		own.memory_bytes = m->cgroup_memory_bytes;
		own.memory_limit_bytes = m->cgroup_memory_limit_bytes;
	}
	return own;
}

void own_limits_add_cpus(struct text *out, double cpus_allowed)
{
	text_printf(out, "of %.6g CPU%s allowed", cpus_allowed, cpus_allowed == 1 ? "" : "s");
}
