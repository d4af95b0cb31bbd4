/* SPDX-License-Identifier: MIT */
/* Which file systems answer statvfs(3) at once. Pure. */
#ifndef RTI_LOCAL_FS_H
#define RTI_LOCAL_FS_H

#include <stdbool.h>

/* Whether statvfs(3) of this type waits for nothing: the figures are in memory, and so is the path
 * to a mount. E.g.: "ext4", "tmpfs". */
bool rti_fs_is_local(const char *type);

/* Whether a path leads through a mount point, or is one. E.g.: "/srv/disk" leads through "/srv" and
 * "/", not through "/s". */
bool rti_fs_leads_through(const char *path, const char *mount_point);

#endif
