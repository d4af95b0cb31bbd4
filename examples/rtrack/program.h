/* SPDX-License-Identifier: MIT */
/* The file of a program: which one a name means, and what it needs to be executed. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Find the executable file that a name means, in PATH if it has no slash. Returns 0 or -ENOENT. */
int program_find(const char *name, char *path, size_t size);

/* Returns the arguments with which sh(1) runs a script without a first line such as #!/bin/sh, or
 * NULL if there is no such file. execvp(3) does the same. Free it with free(). */
const char **program_as_script(const char *const *argv);

/* Returns true if a program cannot be executed because of its interpreter, and sets its path. E.g.:
 * a script begins with #!/usr/bin/pyhton3. */
bool program_lacks_interpreter(const char *name, char *interpreter, size_t size);

#endif
