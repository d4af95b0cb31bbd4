/* SPDX-License-Identifier: MIT */
/* The command line of a running process. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdint.h>

/* Returns the words of the command line, NULL after the last one. Returns NULL if it cannot be read
 * or is empty, as that of a zombie. Free it with free(). */
char **command_line_read(int32_t pid);

#endif
