/* SPDX-License-Identifier: MIT */
/* The paths of programs, by the device and inode of their file.
 *
 * A process may have ended by the time its events are read. E.g.: of a thousand short `git`, the
 * first that is still there gives the path of all. */
#ifndef RTI_EXE_CACHE_H
#define RTI_EXE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_exe_file {
	uint64_t device, inode; /* as in a record; inode 0: unknown */
};

/* Opaque. Written by exe_cache.c only. */
struct rti_exe_cache;

/* Returns 0 or -ENOMEM. */
int rti_exe_cache_new(struct rti_exe_cache **out);

/* Keep the path of a program. */
void rti_exe_cache_add(struct rti_exe_cache *cache, struct rti_exe_file file, const char *path);

/* Write the path of a program, NUL-terminated: "" if it is unknown. If it is not cached, it is that
 * of process pid, if that executes the file now. Returns false if it is longer than size and
 * was cut. */
bool rti_exe_cache_get(struct rti_exe_cache *cache, struct rti_exe_file file, int32_t pid,
                       char *path, size_t size);

/* NULL is fine. */
void rti_exe_cache_free(struct rti_exe_cache *cache);

#endif
