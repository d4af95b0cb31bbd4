/* SPDX-License-Identifier: MIT */
/* The context of a call without a handle, which reads a few files of the running system once. */
#ifndef RTI_ONE_CALL_H
#define RTI_ONE_CALL_H

#include "os/context.h"

/* Lies on the stack of the call. Invariant: ctx points to the other three. */
struct rti_one_call {
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf;
	struct rti_context ctx;
};

/* Prepare the context. flags are RT_OPT_ bits. Returns 0; or -EXDEV if /proc is of another pid
 * namespace, and nothing needs to be ended. */
int rti_one_call_begin(struct rti_one_call *call, uint32_t flags);

/* Release what the call holds. Returns err; but -ENOENT if no process was found because /proc is
 * not mounted. */
int rti_one_call_end(struct rti_one_call *call, int err);

#endif
