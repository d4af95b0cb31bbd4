/* SPDX-License-Identifier: MIT */
/* Programs for rt_command_start() that record what they do; see record.h.
 *
 * The program is the test executable itself, started with the name of a workload and the
 * descriptor of the record. So main() of a test that uses workloads starts with:
 *
 *	if (is_workload(argc))
 *		return run_as_workload(argv);
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "commands.h"
#include "record.h"

#define WORKLOAD_ORPHANS 10                       /* started by "mixed" */
#define WORKLOAD_AT_ONCE 300                      /* started by "at_once" */
#define WORKLOAD_ROUNDS 10                        /* of read_known_bytes(), in "read" */
#define WORKLOAD_READ_BYTES UINT64_C(1000003)     /* read in each round */
#define WORKLOAD_HELD_BYTES (UINT64_C(100) << 20) /* held by "hold" */

struct workload_opts {
	uint32_t accounting;
	bool has_list;   /* request RT_COMMAND_LIST_PROCESSES */
	bool has_events; /* request RT_OPT_PROCESS_EVENTS */
	bool is_early;   /* it forks from its first instruction on */
	bool is_waiting; /* it does nothing until record->may_start is set */
};

/* One started workload. */
struct workload {
	struct rt_command *command;
	struct rt_outcome outcome; /* written by finish_workload() */
	struct record *record;
};

/* Start a workload. Returns false, and skips the test, if this system lacks the accounting
 * method. */
bool start_workload(struct workload *workload, const char *name, struct workload_opts opts);

/* Wait until the workload exits, and get its outcome. Fails the test if it went wrong. */
void finish_workload(struct workload *workload);

/* Start a workload and finish it. On a busy system the kernel may drop process events, which the
 * outcome reports; then the workload runs again, ten times at most. Returns false, and skips the
 * test, if this system lacks the accounting method. */
bool run_workload(struct workload *workload, const char *name, struct workload_opts opts);

/* Free the command and the record. */
void free_workload(struct workload *workload);

/* Return true if this process was started as a workload. */
bool is_workload(int argc);

/* Be the workload that the arguments name. Returns the exit status of main() if that fails. */
int run_as_workload(char **argv);

/* Return true if this user receives process events on this system. */
bool has_process_events(void);

#endif
