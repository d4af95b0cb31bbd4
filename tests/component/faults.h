/* SPDX-License-Identifier: MIT */
/* File calls that fail as told, on top of the real ones. State is per test process. */
#ifndef FAULTS_H
#define FAULTS_H

#include "os/procfs.h"

extern const struct rti_procfs_ops faults_ops;

/* From now on, opening a path that ends so fails with err (negative); 0 ends that. */
void faults_on_open(const char *suffix, int err);

/* From now on, reading a file whose path ends so fails with err; 0 ends that. Descriptors open
 * already are meant too. */
void faults_on_read(const char *suffix, int err);

/* Call back before a path that ends so is opened: to change the world in the middle of a sample. */
void faults_before_open(const char *suffix, void (*act)(void *arg), void *arg);

/* No more than this many descriptors may be open through these calls: then -EMFILE. 0 is no
 * limit. */
void faults_limit_files(unsigned most);

/* Descriptors open through these calls now. */
unsigned faults_open_files(void);

/* Calls to open so far. */
unsigned faults_opens(void);

#endif
