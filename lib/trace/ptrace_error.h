/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be traced by ptrace(2). */
#ifndef RTI_PTRACE_ERROR_H
#define RTI_PTRACE_ERROR_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "os/protocol/tracer_protocol.h"
#include "trace/back_end.h"

/* Write the reason why there is no tracer, or why it started nothing, if err is one of its own. */
void rti_ptrace_describe_tracer(const struct rti_trace_request *request, bool has_begun, int err);

/* Write the reason that a report gives. Returns its error as -errno. */
int rti_ptrace_describe(const struct rti_trace_request *request,
                        const struct rti_tracer_report *report);

#endif
