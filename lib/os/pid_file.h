/* SPDX-License-Identifier: MIT */
/* The files of one process, by name or through descriptors that are kept. */
#ifndef RTI_PID_FILE_H
#define RTI_PID_FILE_H

#include "os/context.h"

/* Read PID/leaf into the scratch buffer, through kept unless that is NULL. 0 or -errno; a kept
 * file of a process that has gone may be empty. */
int rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *cached);

#endif
