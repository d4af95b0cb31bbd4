/* SPDX-License-Identifier: MIT */
/* The table of the collectors of cgroups. */
#include "collect/cgroup_collector.h"

#define CGROUP(name) extern const struct rti_cgroup_collector rti_cgroup_##name;
#include "collect/collectors.def"

const struct rti_cgroup_collector *const rti_cgroup_collectors[] = {
#define CGROUP(name) &rti_cgroup_##name,
#include "collect/collectors.def"
};

const size_t rti_cgroup_collector_count =
    sizeof(rti_cgroup_collectors) / sizeof(rti_cgroup_collectors[0]);

uint64_t rti_cgroup_domains(void)
{
	uint64_t has = 0;

	for (size_t i = 0; i < rti_cgroup_collector_count; i++)
		has |= rti_cgroup_collectors[i]->provides;
	return has;
}
