/* SPDX-License-Identifier: MIT */
/* Finds out whether a proc file system has the pids of the caller's pid namespace. */
#include "os/context.h"

#include <errno.h>
#include <string.h>

#include "os/procfs.h"

/* PROC_PID_INIT_INO, include/linux/proc_ns.h. */
#define INITIAL_PID_NAMESPACE "pid:[4026531836]"

/* In a pid namespace that shows the /proc of an outer one, /proc/self has another pid. */
bool rti_context_is_own_proc(const struct rti_procfs *procfs, int32_t own_pid)
{
	char self[16];

	return rti_procfs_readlink(procfs, RTI_PROC, "self", self, sizeof(self)) <= 0 ||
	       rti_path_number(self) == own_pid;
}

bool rti_context_is_initial_pid_namespace(const struct rti_procfs *procfs)
{
	char name[64];

	return rti_procfs_readlink(procfs, RTI_PROC, "self/ns/pid", name, sizeof(name)) > 0 &&
	       strcmp(name, INITIAL_PID_NAMESPACE) == 0;
}

void rti_context_platform(const struct rti_procfs *procfs, struct rti_platform *platform)
{
	rti_platform_init(platform, false);
	rti_platform_init(platform, procfs->is_foreign ||
	                                !rti_context_is_own_proc(procfs, platform->getpid()));
}

int rti_context_check_pids(const struct rti_procfs *procfs, const struct rti_platform *platform)
{
	return procfs->is_foreign || platform->cpu_clock ? 0 : -EXDEV;
}
