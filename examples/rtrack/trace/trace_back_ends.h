/* SPDX-License-Identifier: MIT */
/* Names of the back ends of a trace, and which of them work here. */
#ifndef TRACE_BACK_ENDS_H
#define TRACE_BACK_ENDS_H

#include <stdint.h>

struct trace_back_end {
	const char *name;
	uint32_t id;       /* RT_TRACE_BACK_END_ value */
	char problem[256]; /* why it does not work here; empty: it works */
};

enum { TRACE_BACK_ENDS = 2 };

/* Find out by a trace with each. */
void trace_back_ends_try(struct trace_back_end out[TRACE_BACK_ENDS]);

#endif
