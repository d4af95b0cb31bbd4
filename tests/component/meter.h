/* SPDX-License-Identifier: MIT */
/* Counts what a sample asks of the system: file calls, clock calls, allocations. Time, the CPU
 * clocks of other processes and the last pid stand still unless the test moves them. So no other
 * process shows in the counts. */
#ifndef METER_H
#define METER_H

#include "api/tracker.h"

#define METER_FILES 64

struct meter {
	/* calls of open, pread and getdents; of exists, readlink, links and poll */
	unsigned opens, reads, lists, looks;
	unsigned spaces;      /* from any thread */
	unsigned clocks;      /* CPU clocks of other processes */
	unsigned times;       /* our own CPU time, and the time of day */
	unsigned allocations; /* malloc, calloc, realloc */
	/* The files read, by name with PID and TID instead of numbers. twice is the path of one
	 * that was read twice, or "". */
	struct {
		char name[48];
		unsigned count;
	} file[METER_FILES];
	size_t files;
	char twice[64];
};

extern const struct rti_procfs_ops meter_ops;
extern struct meter meter;

/* Install the clocks of the meter in a tracker made with meter_ops. */
void meter_attach(struct rt_tracker *t);

/* meter_start() counts from 0. meter_stop() stops counting. */
void meter_start(void);
void meter_stop(void);

/* Returns the files read, each as "NAME COUNT", sorted by name. */
const char *meter_files(void);

/* Let this much time pass. */
void meter_pass(uint64_t ms);

/* Mark a process as having run, so that its CPU clock is read again. 0: all processes. */
void meter_see_run(int32_t pid);

/* Mark that some process has forked. */
void meter_see_fork(void);

#endif
