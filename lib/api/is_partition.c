/* SPDX-License-Identifier: MIT */
/* Whether a block device is a partition, without a handle. */
#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "collect/block_device.h"

#define LONGEST_NAME 63 /* rt_disk.name */

static bool is_device_name(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strnlen(name, LONGEST_NAME + 1) <= LONGEST_NAME && !strchr(name, '/');
}

int rt_is_partition(const char *name)
{
	struct rti_procfs procfs;

	if (!name)
		return -EFAULT;
	if (!is_device_name(name))
		return -EINVAL;
	rti_procfs_use_names(&procfs, &rti_procfs_linux);
	return rti_block_device_is_partition(&procfs, name);
}
