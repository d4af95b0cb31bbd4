/* SPDX-License-Identifier: MIT */
/* The arguments of a traced call, and what the kernel wrote for it. */
#ifndef RTT_CALL_H
#define RTT_CALL_H

#include "os/kernel_abi.h"
#include "os/protocol/trace_record.h"
#include "tracer/tracees.h"

/* Read the arguments of a call that has stopped at its entry. meaning is an RTI_TRACE_ bit. */
void rtt_call_decode(const struct rti_syscall_info *info, uint32_t meaning, struct rtt_call *out);

/* Fill in the record of a call that has returned, with the figures from the memory of thread tid;
 * the thread itself is left out. */
void rtt_call_fill(const struct rtt_call *call, int32_t tid, int64_t result,
                   struct rti_trace_record *out);

#endif
