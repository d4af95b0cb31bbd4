/* SPDX-License-Identifier: MIT */
/* The table of the collectors of cgroups. */
#include "collect/cgroup_collector.h"

extern const struct rti_cgroup_collector rti_cgroup_cpu;
extern const struct rti_cgroup_collector rti_cgroup_io;
extern const struct rti_cgroup_collector rti_cgroup_memory;
extern const struct rti_cgroup_collector rti_cgroup_memory_events;
extern const struct rti_cgroup_collector rti_cgroup_pressure;
extern const struct rti_cgroup_collector rti_cgroup_quota;
extern const struct rti_cgroup_collector rti_cgroup_tasks;

const struct rti_cgroup_collector *const rti_cgroup_collectors[] = {
	&rti_cgroup_cpu, &rti_cgroup_quota, &rti_cgroup_memory,   &rti_cgroup_memory_events,
	&rti_cgroup_io,  &rti_cgroup_tasks, &rti_cgroup_pressure,
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
