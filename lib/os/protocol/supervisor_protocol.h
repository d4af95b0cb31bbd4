/* SPDX-License-Identifier: MIT */
/* The protocol between the library and its supervisor: a SOCK_SEQPACKET pair and shared memory.
 *
 * The layout is not stable and no other program may rely on it. The file of the supervisor has the
 * number of the protocol in its name, so that files of several releases can lie side by side. E.g.:
 * a package is upgraded under a running daemon. The daemon still has the old library in memory, and
 * finds the old supervisor if the package has kept it. */
#ifndef RTI_SUPERVISOR_PROTOCOL_H
#define RTI_SUPERVISOR_PROTOCOL_H

#include <stdint.h>
#include <sys/resource.h>

#define RTI_PROTOCOL "12" /* changes whenever anything below does; lib/meson.build reads it */
#define RTI_SUPERVISOR_NAME "rtrack-supervisor-" RTI_PROTOCOL

/* Arguments of the supervisor, in this order:
 *   1  RTI_SUPERVISOR_NAME: a program may be its own helpers
 *   2  descriptor of its socket
 *   3  descriptor of the shared memory
 *   4  request flags, one letter each (see below)
 *   5  directories of the cgroup to start the program in, separated by '\n', v2 first; or "".
 *      Each begins with an RTI_DIR_ letter
 *   6  working directory to start it in, or ""
 *   7  the program, followed by its arguments */
#define RTI_START_LIST 'l'    /* list every process */
#define RTI_START_GROUP 'g'   /* the program gets a process group of its own */
#define RTI_START_SESSION 's' /* the program gets a session of its own */
#define RTI_START_COUNTED 'c' /* BPF programs count the processes: do without process events */

#define RTI_DIR_V2 '2'        /* the program is not started if it cannot be placed in it */
#define RTI_DIR_V1_NEEDED 'n' /* likewise */
#define RTI_DIR_V1 '1'        /* if it cannot be placed in it, it is started all the same */

/* The exit status of a supervisor of another protocol, of any release. If it cannot begin for
 * another reason, it exits with the errno, and no such call fails with ENOENT, which is 2. */
#define RTI_EXIT_MISMATCH 2

/* Kinds of reports, from the supervisor to the library. */
enum rti_report_kind {
	/* Sent before the launch. If the supervisor goes silent after this, the program may have
	 * run: do not start it again. */
	RTI_STARTING,
	RTI_STARTED,    /* pid */
	RTI_FAILED,     /* error: why the program could not be started */
	RTI_NOT_PLACED, /* error: why no process could be made */
	RTI_EXITED,     /* status of the program; reaped so far */
	RTI_ACCOUNTED   /* reaped so far */
};

struct rti_report {
	uint32_t kind;
	int32_t pid, error, status;
	uint64_t monotonic_ns; /* when it was sent */
	/* Peak memory of the supervisor, which exec passes on to the program; with a starter
	 * (tracer/start.c), at least the starter's peak. */
	int64_t inherited_maxrss_kib;
	/* RUSAGE_CHILDREN of the supervisor: all processes that it has reaped, and the children
	 * that those reaped. */
	struct rusage reaped;
	uint32_t ignored_sigchld; /* 1 if a reaped process ignored SIGCHLD */
	uint32_t placed; /* bit i: the program was placed in the i-th directory of its cgroup */
	/* With RTI_ACCOUNTED: 1 if it has children, each of which is a process of the tree. A
	 * caller may have others, so its report has 0. */
	uint32_t has_children;
	uint32_t reserved;
};

/* Requests from the library to the supervisor. If the library closes the socket, the supervisor
 * exits once the program has ended. */
enum rti_request {
	RTI_PROCEED, /* the library has noted the program's pid, so the supervisor may reap it */
	RTI_ACCOUNT  /* send RTI_ACCOUNTED, and bring the shared stats up to date first */
};

/* A text in the shared memory; len 0: unknown. */
struct rti_record_text {
	uint32_t at, len;
};

/* The record of one process. Times are CLOCK_MONOTONIC; 0 is unknown. */
struct rti_process_record {
	int32_t pid, ppid; /* ppid: the process that forked it */
	uint32_t status;   /* as from wait(2); valid if end_ns is not 0 */
	uint32_t flags;    /* RTI_RECORD_ bits */
	uint64_t start_ns, end_ns;
	uint64_t cpu_user_ns, cpu_system_ns;      /* with RTI_RECORD_FINAL or _HAS_CPU */
	uint64_t read_bytes, write_bytes;         /* with RTI_RECORD_HAS_IO */
	uint64_t own_read_bytes, own_write_bytes; /* with RTI_RECORD_HAS_OWN_IO */
	/* With RTI_RECORD_HAS_CPU: when its CPU clock was read, while it exited; 0: it was not. */
	uint64_t cpu_read_ns;
	uint64_t peak_rss_bytes; /* with RTI_RECORD_HAS_PEAK */
	/* Arguments, separated by NUL, and the working directory: both as of its last exec, or of
	 * the process that forked it. */
	struct rti_record_text command, cwd;
	uint32_t threads_ended; /* besides its leader */
	uint32_t reserved;
	char comm[16];
};

#define RTI_RECORD_REAPED 1u /* reaped by the supervisor */
#define RTI_RECORD_FINAL 2u  /* read after the process had ended */
#define RTI_RECORD_HAS_IO 4u /* includes the I/O of the children that it waited for */
#define RTI_RECORD_HAS_PEAK 8u
#define RTI_RECORD_PEAK_LOW 16u      /* the peak is a lower bound */
#define RTI_RECORD_HAS_OWN_IO 32u    /* of its threads alone */
#define RTI_RECORD_HAS_CPU 64u       /* a lower bound, unless RTI_RECORD_FINAL */
#define RTI_RECORD_EXECUTED 128u     /* it has executed a program since it was forked */
#define RTI_RECORD_TEXT_CUT 256u     /* the command line is longer than RTI_COMMAND_LINE_MAX */
#define RTI_RECORD_TEXT_SKIPPED 512u /* there was no room for a text */
/* For the supervisor alone. */
#define RTI_RECORD_ACCOUNTED 1024u     /* the exit account of its last thread has arrived */
#define RTI_RECORD_FOLLOWS 2048u       /* the next one is of an older process with the same pid */
#define RTI_RECORD_CLOCK_READ 4096u    /* its CPU time is from its clock, after the account */
#define RTI_RECORD_WAIT_HAS_PEAK 8192u /* the ru_maxrss of wait4(2) will be its own peak */
#define RTI_RECORD_MIXED 16384u /* an account of another process came: none are taken any more */

#define RTI_EVENTS_UNAVAILABLE 0 /* the supervisor cannot, or need not, receive process events */
#define RTI_EVENTS_INTACT 1
#define RTI_EVENTS_LOST 2 /* some events were lost, so processes are missing */

#define RTI_LEFT_NONE 0     /* no process is known to have left the cgroup of the program */
#define RTI_LEFT_FOR_OURS 1 /* one has, for another place within the cgroup of the supervisor */
#define RTI_LEFT_OURS 2     /* one has left the cgroup of the supervisor, too */

/* The head of the shared memory. The list of process records follows it, and then the texts of
 * them. Invariant: written by the supervisor only. */
struct rti_shared_stats {
	uint32_t events; /* RTI_EVENTS_ value */
	/* 1 if the thread group leader of a process exited and another thread may have worked on:
	 * alive_peak is then too low. */
	uint32_t has_leader_exit;
	uint64_t processes;  /* processes so far, counted by events */
	uint64_t alive_peak; /* the most of them that were alive at one time */
	/* I/O of the supervisor itself: rchar, wchar, read_bytes, write_bytes,
	 * cancelled_write_bytes, syscr, syscw */
	uint64_t own_io[7];
	uint64_t records;         /* in the list */
	uint64_t records_skipped; /* did not fit in the list */
	uint64_t text_bytes;      /* used of the texts */
	/* With RTI_ACCOUNTED: the CPU time that processes may have used for which no process can be
	 * proven to have waited, at most. UINT64_MAX: unknown. See supervisor/wait_proof.h. */
	uint64_t unproven_ns;
	/* The part of it that is of processes which the kernel seems to have reaped by itself. */
	uint64_t unwaited_ns;
	uint64_t threads;     /* With RTI_ACCOUNTED: threads started so far; UINT64_MAX: unknown */
	uint32_t left_cgroup; /* RTI_LEFT_ value */
	/* The cgroups (v2) that the supervisor and the program were started in, without a slash at
	 * the end, so that the root is "". */
	uint32_t has_cgroup_paths;
	char cgroup_of_supervisor[1024], cgroup_of_program[1024];
};

#define RTI_SHARED_STATS_BYTES 4096 /* offset of the list */
#define RTI_RECORDS_MAX 262144
#define RTI_TEXT_OFFSET                                                                            \
	(RTI_SHARED_STATS_BYTES + RTI_RECORDS_MAX * sizeof(struct rti_process_record))
#define RTI_TEXT_BYTES_MAX (UINT64_C(64) << 20)
#define RTI_COMMAND_LINE_MAX 16384

_Static_assert(sizeof(struct rti_shared_stats) <= RTI_SHARED_STATS_BYTES, "head of the memory");

#endif
