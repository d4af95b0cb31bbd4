/* SPDX-License-Identifier: MIT */
/* Says in words why a trace could not begin. */
#ifndef RTI_TRACE_ERROR_H
#define RTI_TRACE_ERROR_H

#include <rtrack/rtrack.h>

/* Write an English sentence about an error of rt_trace_new() to opts->message, cut to fit. It looks
 * at the system for what would help. Nothing if the caller wants no message. */
void rti_trace_error_describe(const struct rt_trace_opts *opts, int err);

#endif
