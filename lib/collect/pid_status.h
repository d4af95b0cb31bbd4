/* SPDX-License-Identifier: MIT */
/* /proc/PID/status of a process, which several collectors share. It costs more than all the other
 * files of a sample together. */
#ifndef RTI_PID_STATUS_H
#define RTI_PID_STATUS_H

#include "collect/collector.h"

/* Take status from what was kept of it; else read it, and keep it. If the leader has exited, it is
 * of the thread that is asked for memory. Returns 0; or -errno: -EOPNOTSUPP for a kernel thread. */
int rti_pid_status_read(const struct rti_context *ctx, const struct rti_target *target,
                        struct rti_pid_status *out);

#endif
