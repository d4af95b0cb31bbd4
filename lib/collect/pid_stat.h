/* SPDX-License-Identifier: MIT */
/* /proc/PID/stat of a process, and what it proves about the identity of the process.
 *
 * A process is (pid, start time). The kernel reuses pids, so figures that were read by pid are
 * believed only if a stat that is read after them shows the same start time. */
#ifndef RTI_PID_STAT_H
#define RTI_PID_STAT_H

#include "os/context.h"
#include "parse/parse.h"

/* Read the stat of any process, through the cached descriptor unless that is NULL. Returns 0;
 * -ESRCH if there is no such process; -EACCES if it runs but /proc hides it; or another -errno. */
int rti_pid_stat_read(const struct rti_context *ctx, int32_t pid, struct rti_file *cached,
                      struct rti_pid_stat *out);

/* Whether both are of the same process. An unknown start time proves nothing, so it passes. */
bool rti_pid_stat_is_same(const struct rti_pid_stat *before, const struct rti_pid_stat *now);

/* Whether it is of a thread group leader. /proc answers for the ids of other threads, too. Reads
 * status if stat is too short to tell. */
bool rti_pid_stat_is_leader(const struct rti_context *ctx, const struct rti_pid_stat *stat);

/* Whether the process has exited as a whole and waits for its parent or for its release. */
bool rti_pid_stat_is_zombie(const struct rti_pid_stat *stat);

#endif
