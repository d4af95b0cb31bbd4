/* SPDX-License-Identifier: MIT */
/* Every process of the tree, counted by the kernel's process events and, if wished for, listed
 * in shared memory. */
#ifndef RTS_PROCESS_LOG_H
#define RTS_PROCESS_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/supervisor_protocol.h"

struct rts_process_log_opts {
	struct rti_shared_stats *shared;
	const int *memory; /* that the board and the list lie in: its descriptor is moved */
	bool has_list;     /* then what is told of a process is looked up as soon as it is told */
	pid_t root;
	int64_t root_peak_kib; /* which its children inherit */
};

void rts_process_log_begin(const struct rts_process_log_opts *how);

/* The socket to be watched, -1 for none, and for how long it may be left alone once something
 * has come. */
int *rts_process_log_events(void);
int rts_process_log_batch_ms(void);

/* Take in what has happened. */
void rts_process_log_update(void);
/* The same where there is a list: before somebody is reaped of whom it may not have been told
 * yet. */
void rts_process_log_catch_up(void);
/* The same, with what is still being told of those who have ended. */
void rts_process_log_finish(void);

/* A zombie that waits for somebody. Does nothing without a list. */
void rts_process_log_record_zombie(pid_t pid);
/* It was ours, and we have reaped it. */
void rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use);

#endif
