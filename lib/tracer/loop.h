/* SPDX-License-Identifier: MIT */
/* The tracer's loop: waits for stops, and lets each thread go on. */
#ifndef RTT_LOOP_H
#define RTT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "os/protocol/trace_ring.h"

struct rtt_loop {
	struct rti_trace_ring *ring;
	struct rti_trace_end *writer; /* of the ring */
	int library;                  /* socket */
	int starter;                  /* socket */
	int event;                    /* eventfd */
	int32_t program;
};

/* Trace the program, which was seized, and its descendants, until the last has ended. */
void rtt_loop_run(const struct rtt_loop *loop);

/* Send a report to the library, which may be gone. Returns whether it was sent. */
bool rtt_loop_report(const struct rtt_loop *loop, uint32_t step, int error, int32_t pid);

#endif
