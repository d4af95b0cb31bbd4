/* SPDX-License-Identifier: MIT */
/* Where the memory of a process is told.
 *
 * A kernel thread has none, which is not the same as 0. A leader that has exited shows none
 * either, though its other threads live on in the same address space: one of them is asked
 * instead. */
#ifndef RTI_PID_MM_H
#define RTI_PID_MM_H

#include "collect/collector.h"

/* A live thread to ask for the memory of a process whose leader has exited, or 0 if the leader
 * is alive. Reads the stat of one thread after the other. */
int32_t rti_pid_mm_thread(const struct rti_context *ctx, int32_t pid,
                          const struct rti_pid_stat *stat);

/* Read a file about the memory of a process into the scratch buffer, through kept unless that is
 * NULL. 0 or -errno: -EOPNOTSUPP for a kernel thread. */
int rti_pid_mm_read(const struct rti_context *ctx, const struct rti_target *target,
                    const char *file, struct rti_file *cached);

#endif
