/* SPDX-License-Identifier: MIT */
/* The threads that are traced. */
#ifndef RTT_TRACEES_H
#define RTT_TRACEES_H

#include <stdbool.h>
#include <stdint.h>

/* What a call was made with. */
struct rtt_call {
	uint32_t call;  /* RTI_TRACE_ bit; 0: none */
	uint32_t flags; /* RTI_TRACE_32BIT or 0 */
	int32_t who, wait_id;
	uint32_t wait_options;
	uint32_t usage_bytes;   /* of the struct that the call fills */
	uint64_t usage_address; /* 0: none */
	/* Of the status of wait4(2), of the siginfo_t of waitid(2); 0: none. */
	uint64_t status_address;
	uint64_t entry_ns;
};

/* What a thread does not change without a stop that the tracer sees. */
struct rtt_constants {
	bool is_known;
	int32_t tgid;
	uint32_t uid;
	int32_t ns_pid, ns_tid;
	uint32_t depth; /* pid namespaces that it is in, as /proc shows it */
	uint64_t mount_namespace, pid_namespace, uts_namespace, exe_device, exe_inode;
	uint64_t process_start_ns;
};

/* The parent of a process. */
struct rtt_parent {
	int32_t pid;    /* 0: none was read */
	int32_t ns_pid; /* 0: it is in another pid namespace */
	uint64_t start_ns;
};

struct rtt_tracee {
	struct rtt_tracee *next; /* written by tracees.c only */
	int32_t tid;
	/* Written by identity.c; -1 while closed: /proc/PID/task/TID/stat, and the process. */
	int stat_fd, pidfd;
	struct rtt_call call;           /* written by loop.c: the one that has not returned yet */
	struct rtt_constants constants; /* written by identity.c */
	struct rtt_parent parent;       /* likewise */
};

/* Find a thread, or add it. Returns NULL if memory is short: it is then traced without a state. */
struct rtt_tracee *rtt_tracees_get(int32_t tid);

/* Forget a thread that has ended. Nothing if it is unknown. */
void rtt_tracees_remove(int32_t tid);

uint64_t rtt_tracees_count(void);

#endif
