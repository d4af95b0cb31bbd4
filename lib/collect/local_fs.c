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

/* fs/xfs/xfs_super.c, xfs_fs_statfs(): xfs_inodegc_flush() since 5.15, xfs_inodegc_push() since
 * 5.19. Distributors have the former in 5.14, too. */
bool rti_fs_waits_in_release(const char *type, const char *release)
{
	struct rti_scan s = rti_scan(release, strlen(release));
	uint64_t major, minor;

	if (strcmp(type, "xfs") != 0)
		return false;
	if (!rti_scan_u64(&s, &major) || !rti_scan_literal(&s, ".") || !rti_scan_u64(&s, &minor))
		return true;
	return major == 5 && minor >= 14 && minor <= 18;
}

/* "prjquota" of ext4, f2fs and xfs, "prjjquota=FILE" of f2fs, "pquota" and "pqnoenforce" of xfs. */
bool rti_fs_has_project_quota(struct rti_scan options)
{
	struct rti_scan option;

	while (rti_scan_item(&options, &option))
		if (rti_scan_literal(&option, "prj") || rti_scan_literal(&option, "pq"))
			return true;
	return false;
}

bool rti_fs_leads_through(const char *path, const char *mount_point)
{
	size_t len = strcmp(mount_point, "/") == 0 ? 0 : strlen(mount_point);

	return strncmp(path, mount_point, len) == 0 && (path[len] == '/' || path[len] == '\0');
}
