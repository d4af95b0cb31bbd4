/* SPDX-License-Identifier: MIT */
/* Names of files below /proc and /sys. */
#ifndef RTI_PATH_H
#define RTI_PATH_H

#include <stdint.h>

struct rti_path {
	char text[128];
};

/* "PID/leaf". */
struct rti_path rti_pid_path(int32_t pid, const char *file);

/* "PID/task/TID/leaf". */
struct rti_path rti_task_path(int32_t pid, int32_t tid, const char *file);

/* "class/CLASS/NAME/LEAF" below /sys, where a '/' in a name (cciss/c0d0) is a '!'. Names have at
 * most 63 bytes; leaf may be empty. */
struct rti_path rti_class_path(const char *class, const char *name, const char *file);

/* The number that a name consists of, or 0. */
int32_t rti_path_number(const char *name);

#endif
