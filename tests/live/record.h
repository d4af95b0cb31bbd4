/* SPDX-License-Identifier: MIT */
/* What the processes of a test did, as they record it themselves in shared memory. A test compares
 * the library's figures with this record. */
#ifndef RECORD_H
#define RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RECORDED_PROCESSES_MAX 1024

struct recorded_process {
	_Atomic int32_t pid; /* 0 until the entry is written */
	int32_t ppid, exit_code, signal;
	bool is_orphan;    /* the supervisor reaps it */
	bool is_executing; /* it executes another program */
	uint64_t cpu_ns;   /* just before it exits */
	char comm[16];
};

struct record {
	atomic_uint forks, process_count;
	struct recorded_process process[RECORDED_PROCESSES_MAX];
	uint64_t read_chars, supervisor_kib;
	int32_t recycled_pid, waiter_pid;
	atomic_bool may_start; /* set by the test: the workload may begin */
	atomic_bool may_exit;  /* set by the workload */
};

/* Fork, and count the fork in the record. Exits with 96 if the kernel refuses. */
pid_t fork_recorded(struct record *record);

/* Record the calling process, with its current name. Returns its entry. */
struct recorded_process *record_self(struct record *record, int32_t ppid);

/* Record the exit code and the CPU time of the calling process, and exit. */
void exit_recorded(struct recorded_process *process, int code);

/* CPU time of the calling process. */
uint64_t read_self_cpu_ns(void);

/* The number that follows a key in a file of /proc. Returns 0 if there is none.
 * E.g.: read_proc_value("/proc/1/status", "PPid:"). */
uint64_t read_proc_value(const char *path, const char *key);

#endif
