/* SPDX-License-Identifier: MIT */
/* The files about the memory of a process, and which thread still has its address space.
 *
 * A kernel thread has no memory of its own, which is not the same as 0. A leader that has exited
 * shows none either, though the other threads still run in the same address space: one of them
 * is asked instead. */
#ifndef RTI_PID_MM_H
#define RTI_PID_MM_H

#include "collect/collector.h"

/* Find a live thread to ask for the memory of a process if its leader has exited. Returns its id,
 * or 0 if the leader is alive. Reads the stat of one thread after the other. */
int32_t rti_pid_mm_thread(const struct rti_context *ctx, int32_t pid,
                          const struct rti_pid_stat *stat);

/* Read a file about the memory of a process into the scratch buffer, through the cached descriptor
 * unless that is NULL. Returns 0 or -errno: -EOPNOTSUPP for a kernel thread. */
int rti_pid_mm_read(const struct rti_context *ctx, const struct rti_target *target,
                    const char *file, struct rti_file *cached);

/* Read statm, through the cached descriptor of the target. Returns 0 or -errno. */
int rti_pid_mm_read_statm(const struct rti_context *ctx, const struct rti_target *target,
                          struct rti_pid_statm *out);

/* Read smaps_rollup, for which the kernel walks the page tables of the process. Returns 0 or
 * -errno: -ESRCH for a zombie. */
int rti_pid_mm_read_rollup(const struct rti_context *ctx, const struct rti_target *target,
                           struct rti_smaps_rollup *out);

#endif
