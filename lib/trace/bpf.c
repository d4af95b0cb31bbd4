/* SPDX-License-Identifier: MIT */
/* The back end that traces by BPF programs. */
#include <errno.h>

#include "trace/back_end.h"

static int open_trace(void **self, const struct rti_trace_request *request,
                      struct rt_command **command)
{
	(void)self;
	(void)request;
	(void)command;
	return -ENOPKG;
}

const struct rti_trace_back_end rti_trace_bpf = {
	.id = RT_TRACE_BACK_END_BPF,
	.open = open_trace,
};
