/* SPDX-License-Identifier: MIT */
/* What each kind of tracker has: its domains, its default ones, and the flags that it takes. */
#include "api/kind.h"

#include <rtrack/rtrack.h>

#include "cgroup/cgroup.h"
#include "cgroup/own_limits.h"
#include "collect/domains.h"
#include "system/system.h"

#define FLAGS_OF_TREES                                                                             \
	(RT_OPT_NO_CHILDREN | RT_OPT_PROCESS_EVENTS | RT_OPT_NO_PROCESS_EVENTS |                   \
	 RT_OPT_NO_MEMORY_READS | RT_OPT_IO_WITH_REAPED | RT_OPT_PSS_READS | RT_OPT_SESSION)
#define FLAGS_OF_SYSTEM (RT_OPT_NETWORK_FILESYSTEMS | RT_OPT_OWN_LIMITS | RT_OPT_LIST_PROCESSES)
#define FLAGS_OF_CGROUPS (RT_OPT_NO_MEMORY_READS | RT_OPT_PSS_READS)

#define TREE (1u << RT_KIND_PID)
#define SYSTEM (1u << RT_KIND_SYSTEM)
#define CGROUP (1u << RT_KIND_CGROUP)
static const struct {
	uint64_t bit;
	unsigned kinds; /* that measure it by default */
} domains[] = {
#define DOMAIN(bit, kinds, text) { bit, kinds },
#include "api/fields.def"
};

uint64_t rti_kind_domains(uint32_t kind)
{
	switch (kind) {
	case RT_KIND_PID:
		return rti_pid_domains().all | RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN |
		       RTI_HAS_OF_MEMORY | RT_HAS_GPU | RT_HAS_GPU_MEMORY;
	case RT_KIND_SYSTEM:
		return rti_system_domains() | rti_own_limits_domains();
	case RT_KIND_CGROUP:
		return rti_cgroup_tracker_domains();
	default:
		return 0;
	}
}

/* What rt_opts.want 0 stands for. */
uint64_t rti_kind_default_domains(uint32_t kind)
{
	uint64_t has = 0;

	for (size_t i = 0; kind <= RT_KIND_CGROUP && i < sizeof(domains) / sizeof(domains[0]); i++)
		has |= domains[i].kinds & 1u << kind ? domains[i].bit : 0;
	return has;
}

uint32_t rti_kind_flags(uint32_t kind)
{
	switch (kind) {
	case RT_KIND_PID:
		return FLAGS_OF_TREES;
	case RT_KIND_SYSTEM:
		return FLAGS_OF_SYSTEM;
	case RT_KIND_CGROUP:
		return FLAGS_OF_CGROUPS;
	default:
		return 0;
	}
}

bool rti_flags_are_opposed(uint32_t flags)
{
	const uint32_t both = RT_OPT_PROCESS_EVENTS | RT_OPT_NO_PROCESS_EVENTS;

	return (flags & both) == both;
}

uint64_t rti_known_domains(void)
{
	return rti_kind_domains(RT_KIND_PID) | rti_kind_domains(RT_KIND_SYSTEM) |
	       rti_kind_domains(RT_KIND_CGROUP);
}

uint64_t rt_domains(uint32_t kind)
{
	return rti_kind_domains(kind);
}

uint64_t rt_default_domains(uint32_t kind)
{
	return rti_kind_default_domains(kind);
}
