/* SPDX-License-Identifier: MIT */
/* Files that are in memory alone, for the file calls of the library. */
#ifndef FUZZ_MEMORY_FILES_H
#define FUZZ_MEMORY_FILES_H

#include "fuzz.h"

#include "os/procfs.h"

extern const struct rti_procfs_ops memory_files;

/* From now on there is no file, and no descriptor is open. */
void memory_files_begin(void);

/* Add a file, or replace its text. All directories above it are there, too. Neither is copied. */
void memory_files_set(const char *path, const char *text, size_t len);

/* Decides about a path that is no file: returns true if it is a directory. NULL: it is one if there
 * is a file below it. */
extern bool (*memory_files_has_directory)(const char *path);

/* The target of the link /proc/self. */
extern const char *memory_files_self;

/* How many descriptors are open. */
unsigned memory_files_open(void);

#endif
