/* SPDX-License-Identifier: MIT */
/* Reads small files of /proc without a heap.
 *
 * The kernel counts the I/O of the supervisor and of the processes that it reaps together. So each
 * read is counted in the shared stats, for the library to subtract it. */
#ifndef RTS_PROC_FILE_H
#define RTS_PROC_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"

enum { RTS_READ_CALLS = 5 }; /* index of syscr in shared->own_io */

/* Initialize shared->own_io from what the kernel has counted for the supervisor so far. Call this
 * before the other functions. */
void rts_proc_file_init(struct rti_shared_stats *shared);

/* Read a file. The text is cut to fit and ends in NUL. Returns its length, or -1 with errno on
 * failure; the text is then "". */
ssize_t rts_read_file(struct rti_shared_stats *shared, const char *path, char *text, size_t size);

/* Read /proc/PID/FILE as rts_read_file() does. */
ssize_t rts_read_pid_file(struct rti_shared_stats *shared, pid_t pid, const char *file, char *text,
                          size_t size);

/* Find a line that begins with key. Returns the hexadecimal number that follows it, or 0 if there
 * is no such line. */
uint64_t rts_hex_value_of(const char *text, const char *key);

#endif
