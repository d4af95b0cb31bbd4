/* SPDX-License-Identifier: MIT */
/* The sixteen fields of getrusage(2). */
#ifndef RTI_RUSAGE_H
#define RTI_RUSAGE_H

#include <rtrack/rtrack.h>

#include "os/context.h"

struct rusage;

void rti_rusage_from_kernel(const struct rusage *in, struct rt_rusage *out);

/* rt_pid_getrusage() on any root. */
int rti_pid_rusage(const struct rti_context *ctx, int32_t pid, struct rt_rusage *out,
                   uint32_t *valid);

#endif
