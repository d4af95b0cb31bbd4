/* SPDX-License-Identifier: MIT */
/* Builds the paths of files below /proc and /sys. */
#ifndef RTI_PROCFS_PATH_H
#define RTI_PROCFS_PATH_H

#include <stdint.h>

struct rti_path {
	char text[128];
};

/* Returns "PID/FILE". */
struct rti_path rti_pid_path(int32_t pid, const char *file);

/* Returns "PID/task/TID/FILE". */
struct rti_path rti_task_path(int32_t pid, int32_t tid, const char *file);

/* Returns "class/CLASS/NAME/FILE", to be used below /sys. file may be "". A name must have at most
 * 63 bytes. A '/' in it becomes a '!', as in sysfs. E.g.: "cciss/c0d0" becomes "cciss!c0d0". */
struct rti_path rti_class_path(const char *class, const char *name, const char *file);

/* Returns the number that a name consists of. Returns 0 if it is not a number or exceeds
 * INT32_MAX. */
int32_t rti_path_number(const char *name);

#endif
