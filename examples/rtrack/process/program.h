/* SPDX-License-Identifier: MIT */
/* The file of a program: which one a name means, and what it needs to be executed. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>

/* Find the executable file that a name means, in PATH if it has no slash. Returns 0 or -ENOENT. */
int program_find(const char *name, char *path, size_t size);

/* Returns the arguments with which sh(1) runs a script without a first line such as #!/bin/sh, or
 * NULL if there is no such file. execvp(3) does the same. Free it with free(). */
const char **program_as_script(const char *const *argv);

/* Report that a program could not be executed, and why. */
void program_report_failed_start(const char *name, int err);

#endif
