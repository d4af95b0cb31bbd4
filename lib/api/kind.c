/* SPDX-License-Identifier: MIT */
/* What each kind of tracker has: its domains, its default ones, and the flags that it takes. */
#include "api/kind.h"

#include <rtrack/rtrack.h>

#include "cgroup/cgroup.h"
#include "collect/domains.h"
#include "system/system.h"

/* What rt_opts.want 0 stands for. A program that leaves the choice to the library must not become
 * slower with a later one. So a domain is added only if it costs no file read and no process.
 * E.g.: the first look at a GPU takes a tenth of a second. */
#define DEFAULT_OF_TREES                                                                           \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_FAULTS |      \
	 RT_HAS_CTXSW | RT_HAS_PROCESSES | RT_HAS_THREADS | RT_HAS_PROCESSES_SEEN |                \
	 RT_HAS_PEAK_TREE | RT_HAS_IO_CALLS)
#define DEFAULT_OF_SYSTEM                                                                          \
	(RT_HAS_CPU | RT_HAS_PROCESSES | RT_HAS_THREADS | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY |     \
	 RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP | RT_HAS_DISK | RT_HAS_FILESYSTEM | \
	 RT_HAS_NETWORK | RT_HAS_LOAD | RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY |             \
	 RT_HAS_PRESSURE_IO | RT_HAS_ZFS)

/* What the kernel accounts for, and what is left of the members: not what would be an estimate. */
#define DEFAULT_OF_CGROUPS                                                                         \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_FAULTS |                  \
	 RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN | RT_HAS_THREADS | RT_HAS_PEAK_TREE |            \
	 RT_HAS_CGROUP_CPU | RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_MEMORY_PEAK |                    \
	 RT_HAS_CGROUP_MEMORY_KERNEL | RT_HAS_CGROUP_MEMORY_EVENTS | RT_HAS_CGROUP_OOM_KILLS |     \
	 RT_HAS_CGROUP_SWAP | RT_HAS_CGROUP_IO | RT_HAS_CGROUP_TASKS | RT_HAS_CGROUP_TASKS_PEAK |  \
	 RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY | RT_HAS_PRESSURE_IO)

#define FLAGS_OF_TREES                                                                             \
	(RT_OPT_NO_CHILDREN | RT_OPT_PROCESS_EVENTS | RT_OPT_NO_PSS_READS | RT_OPT_IO_WITH_REAPED)
#define FLAGS_OF_SYSTEM RT_OPT_NETWORK_FILESYSTEMS
#define FLAGS_OF_CGROUPS RT_OPT_NO_PSS_READS

uint64_t rti_kind_domains(uint32_t kind)
{
	switch (kind) {
	case RT_KIND_PID:
		return rti_pid_domains().all | RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN |
		       RT_HAS_PSS | RT_HAS_PEAK_TREE | RT_HAS_GPU | RT_HAS_GPU_MEMORY;
	case RT_KIND_SYSTEM:
		return rti_system_domains();
	case RT_KIND_CGROUP:
		return rti_cgroup_tracker_domains();
	default:
		return 0;
	}
}

uint64_t rti_kind_default_domains(uint32_t kind)
{
	switch (kind) {
	case RT_KIND_PID:
		return DEFAULT_OF_TREES;
	case RT_KIND_SYSTEM:
		return DEFAULT_OF_SYSTEM;
	case RT_KIND_CGROUP:
		return DEFAULT_OF_CGROUPS;
	default:
		return 0;
	}
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
