/* SPDX-License-Identifier: MIT */
/* Counts what a sample asks of the system: file calls, clock calls, allocations. Time, the CPU
 * clocks of others and the last pid stand still unless the test moves them, so that nobody
 * else's doing shows in the counts. */
#ifndef METER_H
#define METER_H

#include "api/tracker.h"

#define METER_FILES 64

struct meter {
	/* calls of open, pread and getdents; of exists, readlink and poll */
	unsigned opens, reads, lists, looks;
	unsigned spaces;      /* statvfs, by whichever thread */
	unsigned clocks;      /* the CPU clocks of others */
	unsigned times;       /* for our own CPU time, and for the time of day */
	unsigned allocations; /* malloc, calloc, realloc */
	/* Files read, by name with PID and TID for the numbers; and the path of one that was
	 * read twice, or "". */
	struct {
		char name[48];
		unsigned count;
	} file[METER_FILES];
	size_t files;
	char twice[64];
};

extern const struct rti_procfs_ops meter_ops;
extern struct meter meter;

/* Put the meter's clocks under a tracker made with meter_ops. */
void meter_attach(struct rt_tracker *t);

/* Count from 0, and no more. */
void meter_start(void);
void meter_stop(void);

/* The files read, "NAME COUNT" each, in the order of their names. */
const char *meter_files(void);

/* Time goes by. */
void meter_pass(uint64_t ms);

/* A process has run: its CPU clock is asked for anew. 0: all have. */
void meter_see_run(int32_t pid);

/* Somebody has forked. */
void meter_see_fork(void);

#endif
