/* SPDX-License-Identifier: MIT */
/* Reads the files of one process, by name or through a cached descriptor. */
#ifndef RTI_PID_FILE_H
#define RTI_PID_FILE_H

#include "os/context.h"

/* Returns the format of a file of a process or of a thread, by its name. */
enum rti_file_format rti_pid_file_format(const char *file);

/* Read /proc/PID/FILE into the scratch buffer. Uses and keeps open the cached descriptor unless
 * cached is NULL. Returns 0 or -errno. A cached descriptor of a process that has exited may also
 * deliver an empty file. */
int rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *cached);

/* Open /proc/PID/FILE without reading it. Returns 0 or -errno. */
int rti_pid_file_open(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *out);

/* Whether no process has the pid any longer, as its CPU clock shows. False also where there is no
 * such clock, since the pids are not ours. Opens no file. */
bool rti_pid_was_reaped(const struct rti_context *ctx, int32_t pid);

/* Whether a process runs although /proc does not show its files: it belongs to another user, and
 * /proc is mounted with hidepid. Costs two CPU clocks and one access(2). */
bool rti_pid_file_is_hidden(const struct rti_context *ctx, int32_t pid);

#endif
