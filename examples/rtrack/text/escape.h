/* SPDX-License-Identifier: MIT */
/* Writes command lines and paths, which may contain any byte, on one line and without loss. */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stddef.h>

#include "text.h"

/* Add a path of so many bytes. A backslash becomes \\, a line feed \n, and another control
 * character or a byte that is not UTF-8 becomes \x and two digits. data[len] must be NUL. */
void escape_path(struct text *out, const char *data, size_t len);

/* Add arguments that NULs separate, with spaces between them. A space in an argument becomes \x20.
 * So the arguments are what lies between spaces. E.g.: echo, an empty argument and "a b" become
 * "echo  a\x20b", with two spaces. */
void escape_arguments(struct text *out, const char *data, size_t len);

#endif
