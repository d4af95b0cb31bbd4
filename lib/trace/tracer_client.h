/* SPDX-License-Identifier: MIT */
/* The library's side of a tracer: starts it, receives its reports, and looks whether it lives. */
#ifndef RTI_TRACER_CLIENT_H
#define RTI_TRACER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/origin.h"
#include "os/process/helper_wait.h"
#include "os/protocol/trace_ring.h"
#include "os/protocol/tracer_protocol.h"
#include "trace/back_end.h"

/* Written by tracer_client.c only. A descriptor is -1 while closed. */
struct rti_tracer {
	int32_t pid;
	int pidfd;                   /* of the tracer; -1 also where there are none */
	int socket;                  /* readable once the tracer is gone */
	int starter_socket;          /* the starter's; the tracer has the other end */
	int event;                   /* eventfd: records wait, or all is over */
	struct rti_trace_ring *ring; /* NULL: none */
	size_t ring_bytes;           /* with its head */
	struct rti_trace_end reader; /* of the ring */
	bool has_program;            /* that was started: it traces for as long as that runs */
	struct rti_platform platform;
	struct rti_helper_wait wait; /* for it, with all looks */
	struct rti_origin_file file; /* of its program, and of the starter */
};

#define RTI_TRACER_INIT                                                                            \
	{                                                                                          \
		.pidfd = -1, .socket = -1, .starter_socket = -1, .event = -1, .file = {.dir = -1 } \
	}

/* Start a tracer, which waits for the starter. Returns 0 or -errno: -ENOPKG if there is none;
 * -EOPNOTSUPP if no memory can be shared with it; -ECHILD if it was killed; -ETIMEDOUT if it did
 * not begin in time, or stayed stopped; -EINTR for a signal that is pending. On failure the caller
 * closes it, too. */
int rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request);

/* Close what only the starter needs: our copy of its socket, and the directory of its file. */
void rti_tracer_release_starter(struct rti_tracer *tracer);

/* Wait for the next report, until a time of CLOCK_MONOTONIC; UINT64_MAX: no bound. Returns 0;
 * -ECHILD if the tracer is gone; or as rti_helper_await(): the tracer was killed then. */
int rti_tracer_receive(struct rti_tracer *tracer, uint64_t end_ns, struct rti_tracer_report *out);

/* Look at a tracer that may be stopped or frozen, and continue it. Returns 0; or -ETIMEDOUT if it
 * stayed so, now or before: it was killed. */
int rti_tracer_look(struct rti_tracer *tracer);

/* Whether the tracer has ended. Does not wait. */
bool rti_tracer_is_gone(const struct rti_tracer *tracer);

/* Release the tracer. It stays until all that it traces has ended, and is reaped by a later call;
 * if that is so already, this waits for its end, but not long. is_owner: false in a forked child of
 * the process that has started it, which leaves the tracer alone. */
void rti_tracer_close(struct rti_tracer *tracer, bool is_owner);

#endif
