/* SPDX-License-Identifier: MIT */
/* Which thread has made a call, as /proc shows it. */
#ifndef RTT_IDENTITY_H
#define RTT_IDENTITY_H

#include "os/protocol/trace_record.h"
#include "tracer/tracees.h"

/* Read what does not change. Call it once, first. */
void rtt_identity_begin(void);

/* Fill in the thread of a record. The thread is stopped. What cannot be read is 0, or
 * UINT32_MAX of user id and CPU. E.g.: the thread is being killed. */
void rtt_identity_fill(struct rtt_tracee *tracee, struct rti_trace_record *out);

/* The process of a thread; 0: unknown. */
int32_t rtt_identity_tgid(struct rtt_tracee *tracee);

/* The thread may have changed its user id, its namespaces or its program. */
void rtt_identity_forget(struct rtt_tracee *tracee);

/* The process that traces a process by ptrace(2), or 0. */
int32_t rtt_identity_tracer_of(int32_t pid);

#endif
