/* SPDX-License-Identifier: MIT */
/* The back end that traces by ptrace(2). */
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

const struct rti_trace_back_end rti_trace_ptrace = {
	.id = RT_TRACE_BACK_END_PTRACE,
	.open = open_trace,
};
