/* SPDX-License-Identifier: MIT */
/* Reading and writing past the page cache, so that the kernel counts each byte at once. */
#ifndef DIRECT_IO_H
#define DIRECT_IO_H

/* Create a file in the current directory, and remove its name. */
int open_direct_file(void);

/* Write that many MiB at the end of the file. Exits with 1 if that fails. */
void write_directly(int fd, int mib);

/* Read that many MiB from its start. Exits with 1 if that fails. */
void read_directly(int fd, int mib);

/* Close the file. Skips the workload if it does not hold that many MiB. To close a large file that
 * has no name may sleep, so do it before report_usage(). */
void close_direct_file(int fd, int mib);

#endif
