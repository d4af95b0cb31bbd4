/* SPDX-License-Identifier: MIT */
/* Says in words why nothing can be traced by BPF. */
#ifndef RTI_BPF_ERROR_H
#define RTI_BPF_ERROR_H

#include "trace/back_end.h"

/* Write the reason of an error of the BPF back end, if it is one of its own. Looks at the system
 * for what would help. */
void rti_bpf_describe(const struct rti_trace_request *request, int err);

#endif
