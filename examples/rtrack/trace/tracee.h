/* SPDX-License-Identifier: MIT */
/* What both forms of Tracee's JSON have in common: arguments of a call, times, entity ids. */
#ifndef TRACEE_H
#define TRACEE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace_format.h"

enum { TRACEE_ARGUMENTS_MAX = 5 };

struct tracee_argument {
	const char *name;
	bool is_pointer;
	int32_t number;
	uint64_t pointer;
};

/* Write the arguments in the order of the call. Returns how many there are. */
int tracee_arguments(const struct rt_trace_event *event,
                     struct tracee_argument out[TRACEE_ARGUMENTS_MAX]);

/* Returns a time since boot as one since 1970. 0, unknown, stays 0. */
uint64_t tracee_epoch_ns(const struct trace_context *context, uint64_t boot_ns);

/* Numbers that stand for a thread and for processes for good. 0: unknown. */
struct tracee_ids {
	uint32_t thread, process, parent;
};

struct tracee_ids tracee_ids(const struct trace_context *context,
                             const struct rt_trace_event *event);

#endif
