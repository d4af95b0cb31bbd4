/* SPDX-License-Identifier: MIT */
/* Small files of /proc, read without a heap. The kernel adds what we read ourselves to what we
 * reap, so it is written down on the board. */
#ifndef RTS_FILES_H
#define RTS_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "os/supervisor_protocol.h"

/* Where the board is shared before this is known, it counts from what the kernel has counted so
 * far. */
void rts_files_init(struct rti_shared_stats *shared);

/* The whole of a file, NUL-terminated and cut to fit. Length or -1. */
ssize_t rts_read_file(struct rti_shared_stats *shared, const char *path, char *text, size_t size);

/* The same for /proc/PID/leaf. */
ssize_t rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file, char *text,
                          size_t size);

/* The value behind "key: " at the start of a line. 0 where there is none. */
uint64_t rts_value_of(const char *text, const char *key, int base);

#endif
