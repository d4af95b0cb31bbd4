/* SPDX-License-Identifier: MIT */
/* Memory that is shared with a program of this library. */
#ifndef RTI_SHARED_MEMORY_H
#define RTI_SHARED_MEMORY_H

#include <stddef.h>

/* Make an empty file in memory that is close-on-exec and can be sealed. flags: RTI_MFD_ flags.
 * Returns 0; -EOPNOTSUPP if there can be none of that size (before Linux 3.17, or forbidden); or
 * another -errno: then *fd is -1. */
int rti_memfd_new(size_t bytes, unsigned flags, int *fd);

/* Make memory of 0 and map it. All of it is allocated at once: if it ran out later, a write would
 * be a SIGBUS. The caller unmaps *memory and closes *fd, which is close-on-exec. Returns 0;
 * -EOPNOTSUPP if there can be none (before Linux 3.17, or forbidden); or another -errno. *fd may be
 * open on failure, too; it is -1 if not. */
int rti_shared_memory_new(size_t bytes, void **memory, int *fd);

/* From now on, the memory is written to by the mappings that are there alone (Linux 5.1). Its size
 * never falls: that is so from the start. */
void rti_shared_memory_protect(int fd);

#endif
