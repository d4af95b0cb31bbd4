/* SPDX-License-Identifier: MIT */
/* What /sys/class/block says of a block device. */
#ifndef RTI_BLOCK_DEVICE_H
#define RTI_BLOCK_DEVICE_H

#include "os/procfs.h"

/* Check whether a block device has a file or directory of this name; "" is the device itself.
 * Returns 0 if it has, -ENOENT if not, or another -errno. A name has at most 63 bytes. */
int rti_block_device_access(const struct rti_procfs *procfs, const char *name, const char *file);

/* Returns 1 if a block device is a partition, 0 if it is not, or a negative errno: -ENODEV if there
 * is no such device, -ENOENT if sysfs does not list block devices. */
int rti_block_device_is_partition(const struct rti_procfs *procfs, const char *name);

#endif
