/* SPDX-License-Identifier: MIT */
/* Files of a few bytes, for messages. */
#ifndef RTI_WORD_FILE_H
#define RTI_WORD_FILE_H

#include <stddef.h>

#include "os/procfs.h"

/* Read the first line of a file of the running system, cut to fit: "" if it cannot be read. E.g.:
 * "sys/kernel/yama/ptrace_scope" of RTI_PROC has "1". */
void rti_read_word(enum rti_base base, const char *path, char *out, size_t size);

#endif
