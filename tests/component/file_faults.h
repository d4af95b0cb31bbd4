/* SPDX-License-Identifier: MIT */
/* File calls of which one fails, or gives less than it should, on top of the real ones. */
#ifndef FILE_FAULTS_H
#define FILE_FAULTS_H

#include <stdbool.h>

#include "os/procfs.h"

enum file_fault {
	FILE_FAULT_NONE,
	FILE_FAULT_SHORT_READ, /* a read gives half of what is there */
	FILE_FAULT_ONCE,
	FILE_FAULT_FROM_THEN_ON,
	FILE_FAULT_EMPTY,  /* the file is empty */
	FILE_FAULT_TORN,   /* the file ends after a half of what the read gives */
	FILE_FAULT_GARBLED /* each digit of what the read gives is an x */
};

extern const struct rti_procfs_ops file_faults_ops;

/* From now on, the call with this number, from 1 on, fails with error (-errno), or does what the
 * fault says if it is a read. */
void file_faults_begin(unsigned at, enum file_fault fault, int error);

/* Whether there was such a call, and which one. */
bool file_faults_is_reached(void);
const char *file_faults_name(void);

/* The number of files that are open by these calls. */
int file_faults_open_files(void);

#endif
