/* SPDX-License-Identifier: MIT */
/* What the two back ends of a trace have in common: trace/bpf.c and trace/ptrace.c. */
#ifndef RTI_TRACE_BACK_END_H
#define RTI_TRACE_BACK_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "os/protocol/trace_record.h"
#include "trace/exe_cache.h"
#include "trace/ring_size.h"

struct rti_trace_request {
	uint32_t calls; /* RT_TRACE_CALL_ bits, at least one */
	struct rti_ring_size ring;
	int32_t pid;       /* trace this process; 0: everything, or a command */
	bool has_children; /* with its descendants */
	/* Wake the reader at once after each getrusage(RUSAGE_CHILDREN): its live children are to
	 * be read while they are as they were. */
	bool wakes_for_children;
	/* To start and trace; NULL: none. Of the size of this release, with `reason` as message. */
	const struct rt_command_opts *command;
	/* If open() or start() fails, it may say why in a sentence. Else its error is described. */
	char *reason; /* "" at first */
	uint32_t reason_size;
	struct rti_exe_cache *exe_cache; /* for paths of programs that the back end learns */
};

struct rti_trace_state {
	uint64_t lost;    /* events so far */
	uint64_t threads; /* traced ones that run */
	uint64_t ring_bytes;
	bool is_over; /* all that was traced has ended, and all records were read */
};

struct rti_trace_back_end {
	uint32_t id; /* RT_TRACE_BACK_END_ value */
	/* Begin to trace. Returns 0 or -errno, as rt_trace_new(). */
	int (*open)(void **self, const struct rti_trace_request *request);
	/* Start the command of the request, which then belongs to the caller. Returns 0 or -errno,
	 * as rt_command_start(), or because it cannot be traced: nothing of it is left then. */
	int (*start)(void *self, const struct rti_trace_request *request,
	             struct rt_command **command);
	/* A descriptor that is readable while there is something to read. */
	int (*fd)(const void *self);
	/* Take at most `room` records, oldest first, without waiting. Returns how many; or -ECHILD
	 * if the back end can read no more. 0 also arms the descriptor again. */
	int (*read)(void *self, struct rti_trace_record *records, int room);
	void (*get_state)(const void *self, struct rti_trace_state *out);
	void (*close)(void *self); /* after the command was freed */
};

extern const struct rti_trace_back_end rti_trace_bpf;
extern const struct rti_trace_back_end rti_trace_ptrace;

#endif
