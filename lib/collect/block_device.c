/* SPDX-License-Identifier: MIT */
/* What /sys/class/block says of a block device. */
#include "collect/block_device.h"

#include <errno.h>

#include "os/procfs.h"

int rti_block_device_access(const struct rti_procfs *procfs, const char *name, const char *file)
{
	return rti_procfs_access(procfs, RTI_SYS, rti_class_path("block", name, file).text);
}

/* The file `partition` has the number of a partition, and no other device has one (since Linux
 * 2.6.27, block/partitions/core.c). A name shows nothing. E.g.: nvme0n10 is a disk, and vda1 is the
 * disk of some virtual machines. */
int rti_block_device_is_partition(const struct rti_procfs *procfs, const char *name)
{
	int err = rti_block_device_access(procfs, name, "partition");

	if (err == 0)
		return 1;
	if (err == -ENOENT)
		err = rti_block_device_access(procfs, name, "");
	if (err == -ENOENT && rti_procfs_access(procfs, RTI_SYS, "class/block") == 0)
		err = -ENODEV;
	return err;
}
