/* SPDX-License-Identifier: MIT */
/* Which part of a cgroup hierarchy a mount shows. */
#ifndef RTI_CGROUP_MOUNT_H
#define RTI_CGROUP_MOUNT_H

#include "parse/scan.h"

/* Returns the part of a cgroup's name below the root of a mount, or NULL if the mount does not show
 * it. E.g.: "/b" for "/a/b" below "/a", and "" for "/". Both are relative to the cgroup namespace,
 * so both may begin with "/..". */
const char *rti_cgroup_below_mount(const char *name, const struct rti_scan *escaped_root);

#endif
