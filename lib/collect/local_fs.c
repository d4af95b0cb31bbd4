/* SPDX-License-Identifier: MIT */
/* Which file systems answer statvfs(3) at once. */
#include "collect/local_fs.h"

#include <stddef.h>
#include <string.h>

/* Not among them: zfs, which waits for a suspended pool; overlay, which may lie on any other; FAT,
 * which may have to count what is free. */
static const char *const local_types[] = {
	"btrfs", "devtmpfs", "erofs", "ext2",     "ext3",  "ext4",
	"f2fs",  "iso9660",  "ramfs", "squashfs", "tmpfs", "xfs",
};

bool rti_fs_is_local(const char *type)
{
	for (size_t i = 0; i < sizeof(local_types) / sizeof(local_types[0]); i++)
		if (strcmp(type, local_types[i]) == 0)
			return true;
	return false;
}

bool rti_fs_leads_through(const char *path, const char *mount_point)
{
	size_t len = strcmp(mount_point, "/") == 0 ? 0 : strlen(mount_point);

	return strncmp(path, mount_point, len) == 0 && (path[len] == '/' || path[len] == '\0');
}
