/* SPDX-License-Identifier: MIT */
/* Finds a cgroup by its name, in every hierarchy that is mounted.
 *
 * v2 is one hierarchy. v1 has one for each controller, or for several at once. So a cgroup of a
 * service or a container is a directory in each of them, and all have the same name. E.g. on a
 * hybrid system: /sys/fs/cgroup/unified/a/b and /sys/fs/cgroup/memory/a/b. */
#ifndef RTI_CGROUP_FIND_H
#define RTI_CGROUP_FIND_H

#include <stdbool.h>

#include "os/context.h"

/* Controllers that have figures. */
enum rti_controller {
	RTI_CONTROLLER_CPU,
	RTI_CONTROLLER_CPUACCT, /* v1 alone: in v2 every cgroup accounts for CPU time */
	RTI_CONTROLLER_MEMORY,
	RTI_CONTROLLER_IO,
	RTI_CONTROLLER_PIDS,
	RTI_CONTROLLERS
};

/* One hierarchy, and the directory that the cgroup has in it. */
struct rti_cgroup_place {
	struct rti_file dir; /* -1: it has none */
	int error;           /* why it has none: -errno */
	bool is_v2;
	uint32_t controllers;  /* v1: bits 1 << enum rti_controller */
	unsigned depth;        /* levels below the root of the mount; 0: it is that */
	uint32_t major, minor; /* device of the hierarchy */
};

#define RTI_CGROUP_PLACES_MAX 16

/* A cgroup. Owns the descriptors. They stay with the directories: another cgroup that gets the same
 * name later is not found through them. */
struct rti_cgroup_places {
	struct rti_cgroup_place place[RTI_CGROUP_PLACES_MAX];
	uint32_t count;
	uint32_t main; /* the place that lists the processes of the cgroup */
};

/* Find a cgroup. name is one of:
 * - a path below the mounts, as /proc/PID/cgroup has it: "/system.slice/cron.service";
 * - the path of a directory of one hierarchy: "/sys/fs/cgroup/memory/a". Its processes count then,
 *   and the other hierarchies are searched for the same name;
 * - a line of /proc/PID/cgroup: "0::/a" or "4:memory:/a". Likewise.
 *
 * Returns 0; -EINVAL if name is none of them; -ENOENT if there is no such cgroup; -EOPNOTSUPP if no
 * cgroup file system is mounted; or another -errno. On failure nothing stays open. */
int rti_cgroup_find(struct rti_cgroup_places *out, const struct rti_context *ctx, const char *name);

/* Find the cgroup of the caller, which may have another name in each hierarchy. A hierarchy that
 * does not show it has no directory. CPU time comes from the cgroup that the quota holds for, or
 * from none. Returns 0 or -errno. On failure nothing stays open. */
int rti_cgroup_find_own(struct rti_cgroup_places *out, const struct rti_context *ctx);

void rti_cgroup_places_close(struct rti_cgroup_places *places, const struct rti_context *ctx);

/* The place with the figures of a controller: a hierarchy of v1 that has it, else v2. It may have
 * no directory. Returns NULL if neither is mounted. */
const struct rti_cgroup_place *rti_cgroup_place_of(const struct rti_cgroup_places *places,
                                                   enum rti_controller controller);

/* The place of v2 if the cgroup has a directory there, else NULL. */
const struct rti_cgroup_place *rti_cgroup_place_v2(const struct rti_cgroup_places *places);

#endif
