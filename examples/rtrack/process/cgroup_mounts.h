/* SPDX-License-Identifier: MIT */
/* Reads where the hierarchies of cgroups are mounted. */
#ifndef CGROUP_MOUNTS_H
#define CGROUP_MOUNTS_H

#include <stdbool.h>
#include <stdio.h>

struct cgroup_mount {
	bool is_v2;
	char root[1024]; /* of the hierarchy: "/" if all of it is shown */
	char point[1024];
};

/* Open the list of mounts. Returns NULL without it; fclose() closes it. */
FILE *cgroup_mounts_open(void);

/* Get the next mount of a hierarchy. Returns false past the last. */
bool cgroup_mounts_next(FILE *list, struct cgroup_mount *mount);

/* Returns true if a line of /proc/PID/cgroup is of the hierarchy v2, or of the one of v1 with this
 * controller. E.g.: "0::/a", "4:cpu,memory:/a". */
bool cgroup_line_has(const char *line, const char *controller);

#endif
