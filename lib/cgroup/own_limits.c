/* SPDX-License-Identifier: MIT */
/* What the cgroup of the caller uses, and what it is limited to.
 *
 * The collectors of cgroups fill a sample of their own, since some have figures that the system
 * has, too. Only what begins with cgroup_ is taken over, and the CPU time under another name. */
#include "cgroup/own_limits.h"

#include <errno.h>
#include <string.h>

/* Of the system there, even with this option. */
#define OF_SYSTEM                                                                                  \
	(RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY |               \
	 RT_HAS_PRESSURE_IO)

/* The fields of cgroups follow one another. */
#define FIRST offsetof(struct rt_metrics, cgroup_memory_bytes)
#define END (offsetof(struct rt_metrics, cgroup_tasks_peak) + sizeof(uint64_t))

uint64_t rti_own_limits_domains(void)
{
	return (rti_cgroup_domains() & ~OF_SYSTEM) | RT_HAS_CGROUP_CPU_TIME;
}

static uint64_t wanted_of_collectors(uint64_t want)
{
	return (want & rti_cgroup_domains() & ~OF_SYSTEM) |
	       (want & RT_HAS_CGROUP_CPU_TIME ? RT_HAS_CPU : 0);
}

int rti_own_limits_init(struct rti_own_limits *own, const struct rti_context *ctx, uint64_t want)
{
	int err;

	*own = (struct rti_own_limits){ .want = wanted_of_collectors(want) };
	if (!own->want)
		return 0;
	own->find_error = rti_cgroup_find_own(&own->places, ctx);
	err = rti_cgroup_account_init(&own->account, own->want);
	if (err < 0)
		rti_own_limits_free(own, ctx);
	return err;
}

void rti_own_limits_free(struct rti_own_limits *own, const struct rti_context *ctx)
{
	rti_cgroup_account_free(&own->account, ctx);
	rti_cgroup_places_close(&own->places, ctx);
}

/* RT_HAS_CPU of a cgroup is RT_HAS_CGROUP_CPU_TIME here. */
static uint64_t renamed(uint64_t mask)
{
	return (mask & rti_own_limits_domains()) | (mask & RT_HAS_CPU ? RT_HAS_CGROUP_CPU_TIME : 0);
}

void rti_own_limits_sample(struct rti_own_limits *own, const struct rti_context *ctx,
                           struct rt_metrics *out)
{
	struct rt_metrics m = { 0 };

	if (!own->want || own->find_error < 0)
		return;
	rti_cgroup_account_read(&own->account, ctx, &own->places, own->want, &m);
	memcpy((char *)out + FIRST, (const char *)&m + FIRST, END - FIRST);
	out->cgroup_cpu_ns = m.cpu_user_ns + m.cpu_system_ns;
	out->valid |= renamed(m.valid & own->want);
	out->partial |= renamed(m.partial & own->want);
	out->estimated |= renamed(m.estimated & own->want);
}

void rti_own_limits_explain(const struct rti_own_limits *own, const struct rt_metrics *last,
                            uint64_t has, struct rti_explanation *out)
{
	uint64_t of_collector = has == RT_HAS_CGROUP_CPU_TIME ? RT_HAS_CPU : has;

	*out = (struct rti_explanation){ .file = "" };
	if (last->valid & has)
		return;
	out->error = -ENODATA;
	if (own->find_error < 0) {
		out->error = own->find_error;
		out->cause = RTI_CAUSE_READ;
		out->file = "self/cgroup";
	} else {
		rti_cgroup_account_explain(&own->account, of_collector, out);
	}
}
