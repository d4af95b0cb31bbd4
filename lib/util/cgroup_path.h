/* SPDX-License-Identifier: MIT */
/* Paths of cgroups, as in /proc/PID/cgroup. */
#ifndef RTI_CGROUP_PATH_H
#define RTI_CGROUP_PATH_H

#include <stdbool.h>
#include <string.h>

/* Returns true if a path leads to a cgroup or to one below it. The root is "". A cgroup above the
 * root of the cgroup namespace shows as "/..". */
static inline bool rti_cgroup_is_within(const char *path, const char *group)
{
	size_t len = strlen(group);

	if (len == 0)
		return strncmp(path, "/..", 3) != 0;
	return strncmp(path, group, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

#endif
