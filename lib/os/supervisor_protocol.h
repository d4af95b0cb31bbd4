/* SPDX-License-Identifier: MIT */
/* What the library and its supervisor tell each other, over a SOCK_SEQPACKET pair and in shared
 * memory. Both are of one release: the layout is no promise to anybody else. */
#ifndef RTI_PROTOCOL_H
#define RTI_PROTOCOL_H

#include <stdint.h>
#include <sys/resource.h>

#define RTI_SUPERVISOR_NAME "rtrack-supervisor"
#define RTI_PROTOCOL "3" /* changes whenever anything below does */

/* Arguments of the supervisor: the protocol; the number of its socket; that of the shared
 * memory; what is wished for, a letter each; the directory of the cgroup to start the program
 * in, or ""; the directory to start it in, or ""; the program and its arguments. */
#define RTI_START_LIST 'l' /* list every process */
#define RTI_START_PERF 'p' /* an inherited clock */

/* From the supervisor. */
enum rti_report_kind {
	/* from here on the program may run: who is silent after that is not to be tried again */
	RTI_STARTING,
	RTI_STARTED,    /* pid */
	RTI_FAILED,     /* error: why the program could not be started */
	RTI_NOT_PLACED, /* error: why no process could be made in the cgroup, or no clock be had */
	RTI_EXITED,     /* status of the program; reaped so far */
	RTI_ACCOUNTED   /* reaped so far */
};

struct rti_report {
	uint32_t kind;
	int32_t pid, error, status;
	uint64_t monotonic_ns; /* when it happened */
	/* peak memory of the supervisor, which its exec hands on to the program */
	int64_t inherited_maxrss_kib;
	/* RUSAGE_CHILDREN of the supervisor: all that it has reaped, and they */
	struct rusage reaped;
	/* CPU time of the program and all that it started, by the inherited clock */
	uint64_t clock_ns;
	/* some process that it reaped had left the cgroup that it was started in */
	uint32_t left_cgroup;
	uint32_t ignored_sigchld; /* some process that it reaped ignored SIGCHLD */
};

/* To the supervisor. Closing the socket lets it go: it exits when the program has ended. */
enum rti_request {
	RTI_PROCEED, /* the program's pid was noted: it may be reaped from now on */
	RTI_ACCOUNT  /* asks for RTI_ACCOUNTED, and for the board to be brought up to date */
};

/* One process that lived. Times are CLOCK_MONOTONIC; 0 is unknown. */
struct rti_process_record {
	int32_t pid, ppid; /* ppid: who forked it */
	uint32_t status;   /* as wait(2) gives it; with end_ns */
	uint32_t flags;    /* RTI_LIFE_ bits */
	uint64_t start_ns, end_ns;
	uint64_t cpu_user_ns, cpu_system_ns; /* RTI_RECORD_FINAL */
	uint64_t read_bytes, write_bytes;    /* RTI_RECORD_HAS_IO */
	uint64_t peak_rss_bytes;             /* RTI_RECORD_HAS_PEAK */
	char comm[16];
};

#define RTI_RECORD_REAPED 1u /* by the supervisor */
#define RTI_RECORD_FINAL 2u  /* read when it had ended */
#define RTI_RECORD_HAS_IO 4u /* that of the children it waited for included */
#define RTI_RECORD_HAS_PEAK 8u

#define RTI_EVENTS_UNAVAILABLE 0 /* there are none for us */
#define RTI_EVENTS_INTACT 1
#define RTI_EVENTS_LOST 2 /* some, so that processes are missing */

/* The head of the shared memory, written by the supervisor; then the list of lives. */
struct rti_shared_stats {
	uint32_t events; /* RTI_EVENTS_ value */
	/* some process ran on when its first thread had ended: most_alive is too low */
	uint32_t has_leader_exit;
	uint64_t processes;  /* that lived so far, by events */
	uint64_t alive_peak; /* of them at the same time */
	/* of the supervisor: rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes */
	uint64_t own_io[5];
	uint64_t records;         /* in the list */
	uint64_t records_skipped; /* past its end */
};

#define RTI_SHARED_STATS_BYTES 4096 /* where the list begins */
#define RTI_RECORDS_MAX 262144

#endif
