/* SPDX-License-Identifier: MIT */
/* Counts every process of the tree by the kernel's process events, and lists them if requested.
 *
 * The counts and the list are in shared memory. */
#ifndef RTS_PROCESS_LOG_H
#define RTS_PROCESS_LOG_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"

struct rts_process_log_opts {
	struct rti_shared_stats *shared; /* the list follows it */
	/* Descriptor of the memory that shared is in. A pointer, since the descriptor is moved. */
	const int *memory;
	/* List the processes. Every event is then handled as soon as it arrives, while the process
	 * that it reports can still be read. */
	bool has_list;
	/* BPF programs count the processes: no event is received, which would cost 7 us for each
	 * process. */
	bool is_counted;
	pid_t root;    /* the supervisor */
	uint64_t cpus; /* that are online */
};

/* Subscribe to process events, if needed, and begin to count. Sets opts->shared->events. Returns 0
 * or -ENOMEM. */
int rts_process_log_begin(const struct rts_process_log_opts *opts);

/* The program was started. A peak of it up to this one may be inherited, at an exec. Events of
 * threads are filtered from now on, unless there is room for many. */
void rts_process_log_set_program(pid_t pid, int64_t inherited_maxrss_kib);
/* Events of threads are filtered from now on. Call this at the end of the first batch: to make the
 * filters takes 40 us, which a program that ends before that is spared. */
void rts_process_log_filter(void);
/* Returns when the program ended, by the events that have arrived, or 0 if that is unknown. */
uint64_t rts_process_log_program_end_ns(void);
/* Close the sockets and release the tables. */
void rts_process_log_end(void);

/* Returns the address of the socket to poll. It is negative if there are no events. The caller may
 * move the descriptor. */
int *rts_process_log_events(void);
/* The same for the starts of threads, and for exit accounts. */
int *rts_process_log_threads(void);
int *rts_process_log_accounts(void);
/* Returns for how many milliseconds events may wait once the first has arrived. */
int rts_process_log_batch_ms(void);

/* Handle all events that have arrived, and update the counts. */
void rts_process_log_update(void);
/* Do the same if there is a list. Call this before a process is reaped: its fork may not have been
 * handled yet. */
void rts_process_log_catch_up(void);
/* Do the same, wait a moment for exits that have yet to be reported, and publish whether every
 * process was waited for. has_children: the root has some, so processes may still run. */
void rts_process_log_finish(bool has_children);

/* Record the final figures of a zombie. Does nothing if there is no list. */
void rts_process_log_record_zombie(pid_t pid);
/* Record that the supervisor has reaped a process. */
void rts_process_log_record_reaped(pid_t pid, int status, const struct rusage *use);

#endif
