/* SPDX-License-Identifier: MIT */
/* What the library and its supervisor tell each other, over a SOCK_SEQPACKET pair. Both are of one release: the layout is
 * no promise to anybody else. */
#ifndef RTI_PROTOCOL_H
#define RTI_PROTOCOL_H

#include <stdint.h>
#include <sys/resource.h>

#define RTI_SUPERVISOR_NAME "rtrack-supervisor"
#define RTI_PROTOCOL "1" /* changes whenever anything below does */

/* Arguments of the supervisor: the protocol; the number of its socket; the directory of the cgroup to start the program in, or "";
 * the directory to start it in, or ""; the program and its arguments. */

/* From the supervisor. */
enum rti_report_kind {
	RTI_STARTED,  /* pid */
	RTI_FAILED,   /* error: why the program could not be started */
	RTI_NOT_PLACED, /* error: why no process could be made in the cgroup */
	RTI_EXITED,   /* status of the program; reaped so far */
	RTI_ACCOUNTED /* reaped so far */
};

struct rti_report {
	uint32_t kind;
	int32_t pid, error, status;
	uint64_t monotonic_ns; /* when it happened */
	int64_t bequeathed_kib; /* peak memory of the supervisor, which its exec hands on to the program */
	struct rusage reaped;  /* RUSAGE_CHILDREN of the supervisor: all that it has reaped, and they */
	uint64_t own_io[5];    /* rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes */
	uint32_t ignored_sigchld; /* some process that it reaped ignored SIGCHLD */
};

/* To the supervisor. Closing the socket lets it go: it exits when the program has ended. */
enum rti_request {
	RTI_PROCEED, /* the program's pid was noted: it may be reaped from now on */
	RTI_ACCOUNT  /* asks for RTI_ACCOUNTED */
};

#endif
