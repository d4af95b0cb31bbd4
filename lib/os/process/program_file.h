/* SPDX-License-Identifier: MIT */
/* The program file of a process: /proc/PID/exe. */
#ifndef RTI_PROGRAM_FILE_H
#define RTI_PROGRAM_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Read which file a process executes, and its path, NUL-terminated and cut to size. The path ends
 * in " (deleted)" if the file was deleted. The lower half of the device is as the kernel has it
 * (s_dev): major << 20 | minor; but on some file systems, such as btrfs, stat(2) shows another one.
 * The upper half is of the time of its last change: a later file may have the same inode. Returns 0
 * or -errno: -ENOENT also of a kernel thread. What is written is then unspecified. */
int rti_program_file(int32_t pid, uint64_t *device, uint64_t *inode, char *path, size_t size);

#endif
