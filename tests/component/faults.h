/* SPDX-License-Identifier: MIT */
/* File calls that fail as the test says, on top of the real ones. The state is per test process. */
#ifndef FAULTS_H
#define FAULTS_H

#include "os/procfs.h"

extern const struct rti_procfs_ops faults_ops;

/* From now on, opening a path with this suffix fails with err (negative). 0 ends that. */
void faults_on_open(const char *suffix, int err);

/* From now on, reading a file with this suffix in its path fails with err. 0 ends that. This
 * includes descriptors that are already open. */
void faults_on_read(const char *suffix, int err);

/* Call act(arg) once before a path with this suffix is opened, to change files in the middle of a
 * sample. */
void faults_before_open(const char *suffix, void (*act)(void *arg), void *arg);

/* Let at most this many descriptors be open through these calls. Further ones fail with -EMFILE. 0:
 * no limit. */
void faults_limit_files(unsigned most);

/* Returns the number of descriptors open through these calls. */
unsigned faults_open_files(void);

/* Returns the number of calls to open so far. */
unsigned faults_opens(void);

#endif
