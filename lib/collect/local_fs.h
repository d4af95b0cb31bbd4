/* SPDX-License-Identifier: MIT */
/* Which file systems answer statvfs(3) at once. Pure.
 *
 * These are asked without a thread. So a sample would hang in one that waits for its device. None
 * of them does, read from the kernel's sources of each: they count their blocks in memory, which
 * statfs() reads, and a mount point and the directories that lead to it stay in memory while it is
 * mounted. E.g.: a disk that was pulled out still shows its space.
 *
 * Two cases do wait, and get a thread: quota of a project, which may have to be read from the disk,
 * and xfs from Linux 5.14 to 5.18, which first removed what was deleted. */
#ifndef RTI_LOCAL_FS_H
#define RTI_LOCAL_FS_H

#include <stdbool.h>

#include "parse/scan.h"

/* Whether statvfs(3) of this type waits for nothing: the figures are in memory, and so is the path
 * to a mount. E.g.: "ext4", "tmpfs". */
bool rti_fs_is_local(const char *type);

/* Whether statvfs(3) of this type waits in this release of the kernel all the same. E.g.: "xfs",
 * "5.15.0-91-generic". */
bool rti_fs_waits_in_release(const char *type, const char *release);

/* Whether the options of a file system have it show the quota of a project instead of all space.
 * E.g.: "rw,prjquota". */
bool rti_fs_has_project_quota(struct rti_scan options);

/* Whether a path leads through a mount point, or is one. E.g.: "/srv/disk" leads through "/srv" and
 * "/", not through "/s". */
bool rti_fs_leads_through(const char *path, const char *mount_point);

#endif
