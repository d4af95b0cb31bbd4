/* SPDX-License-Identifier: MIT */
/* Calls to the C library that fail as a test says, in the library and in a supervisor that is
 * linked with this file. The linker has to put the functions of call_faults.c in their place. All
 * processes count together. */
#ifndef CALL_FAULTS_H
#define CALL_FAULTS_H

#include <stdbool.h>

/* The environment variable with the file that processes share. */
#define CALL_FAULTS_ENV "RTRACK_TEST_CALL_FAULTS"

/* Which calls may fail. */
enum call_kind {
	CALL_MAKES = 1, /* takes a descriptor, memory or a process */
	CALL_WAITS = 2, /* may be interrupted by a signal */
	CALL_READS = 4,
	CALL_TRACES = 8,    /* a request to a traced thread, which is killed right before */
	CALL_ELSEWHERE = 16 /* with others: not in the process that has begun */
};

/* Share the counts with the processes that are started from now on, by a file in a directory.
 * Writes to the environment. */
void call_faults_share(const char *dir);

/* End that, before the file is removed. */
void call_faults_keep_to_itself(void);

/* From now on, the call with this number, from 1 on, of these kinds fails with error. 0: none. */
void call_faults_begin(unsigned at, int kinds, int error);

/* Let no call fail any more. Returns whether one has. */
bool call_faults_end(void);

/* The name of the call that has failed, and whether that was in a supervisor. */
const char *call_faults_name(void);

#endif
