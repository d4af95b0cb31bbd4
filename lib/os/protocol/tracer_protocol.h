/* SPDX-License-Identifier: MIT */
/* The protocol between the library, its tracer, and the starter of the traced program: two
 * SOCK_SEQPACKET pairs, and the ring of os/protocol/trace_ring.h.
 *
 * Tracer and starter are one file: see tracer/main.c. The layout is not stable and no other program
 * may rely on it. As with the supervisor, the name of the file has the number of the protocol. */
#ifndef RTI_TRACER_PROTOCOL_H
#define RTI_TRACER_PROTOCOL_H

#include <stdint.h>

/* Changes whenever anything below, the ring or its record does; lib/meson.build reads it. */
#define RTI_TRACER_PROTOCOL "1"
#define RTI_TRACER_NAME "rtrack-tracer-" RTI_TRACER_PROTOCOL

/* First argument of the tracer. It has no other: its descriptors have fixed numbers. No other
 * program has such an argument: a program may be its own helpers. */
#define RTI_TRACER_TRACE RTI_TRACER_NAME "-trace"

enum rti_tracer_fd {
	RTI_TRACER_LIBRARY_FD = 3, /* socket */
	RTI_TRACER_STARTER_FD,     /* socket */
	RTI_TRACER_MEMORY_FD,      /* the ring */
	RTI_TRACER_EVENT_FD        /* eventfd, to wake the reader */
};

/* Arguments of the starter, in this order:
 *   1  RTI_TRACER_START
 *   2  descriptor of its socket
 *   3  descriptor of its own file or of the directory of that, which it was executed by, or 0
 *   4  pid of the tracer
 *   5  the program, followed by its arguments */
#define RTI_TRACER_START RTI_TRACER_NAME "-start"

enum rti_tracer_step {
	RTI_TRACER_READY,    /* the tracer waits for the starter */
	RTI_TRACER_STARTED,  /* the program runs, or has run */
	RTI_TRACER_SILENT,   /* the starter has ended before it could be traced */
	RTI_TRACER_SEIZED,   /* error; pid: the process that traces it already, or 0 */
	RTI_TRACER_FILTERED, /* error: no seccomp filter */
	RTI_TRACER_EXECUTED, /* error of execve(2) */
	RTI_TRACER_INFORMED  /* error: no PTRACE_GET_SYSCALL_INFO */
};

/* From the tracer to the library. A step after RTI_TRACER_STARTED has failed: nothing runs. */
struct rti_tracer_report {
	uint32_t step; /* enum rti_tracer_step */
	int32_t error; /* a positive errno */
	int32_t pid;
};

/* From the starter to the tracer: that it is there (RTI_TRACER_READY), or which step has failed.
 * From the tracer to the starter: that it is traced (RTI_TRACER_SEIZED), or why not. */
struct rti_starter_message {
	uint32_t step;
	int32_t error;
	uint32_t calls; /* RTI_TRACE_ bits of the calls to trace, from the tracer */
};

#endif
