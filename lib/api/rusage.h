/* SPDX-License-Identifier: MIT */
/* The sixteen fields of getrusage(2). */
#ifndef RTI_RUSAGE_H
#define RTI_RUSAGE_H

#include <stddef.h>

#include <rtrack/rtrack.h>

#include "os/context.h"

/* The bit of a field in a mask of its fields: bit i is field i. */
#define RTI_RUSAGE_BIT(name) (1u << (offsetof(struct rt_rusage, name) / 8))
#define RTI_RUSAGE_ALL 0xffffu

struct rusage;

void rti_rusage_from_kernel(const struct rusage *in, struct rt_rusage *out);

/* rt_pid_getrusage() on any root. */
int rti_pid_rusage(const struct rti_context *ctx, int32_t pid, struct rt_rusage *out,
                   uint32_t *valid);

#endif
