/* SPDX-License-Identifier: MIT */
/* Finds the thread whose files show the memory of a process.
 *
 * A kernel thread has no address space, which differs from a size of 0. A thread group leader that
 * has exited shows no memory either, although its other threads still use the address space. The
 * memory is then read from one of them. */
#ifndef RTI_PID_MM_H
#define RTI_PID_MM_H

#include "collect/collector.h"

/* Returns the tid of a live thread if the leader has exited, or 0 if it has not. Reads the stat of
 * one thread after the other. */
int32_t rti_pid_mm_thread(const struct rti_context *ctx, int32_t pid,
                          const struct rti_pid_stat *stat);

/* Read a file about the memory of a process into the scratch buffer. Uses and keeps open the cached
 * descriptor unless cached is NULL or the leader has exited. Returns 0 or -errno: -EOPNOTSUPP for a
 * kernel thread. */
int rti_pid_mm_read(const struct rti_context *ctx, const struct rti_target *target,
                    const char *file, struct rti_file *cached);

#endif
