/* SPDX-License-Identifier: MIT */
/* Checks for UTF-8: command lines and process names may contain any bytes. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Returns the length of the character that starts at s, or 0 if the bytes there are not UTF-8. s
 * must not be empty. */
size_t utf8_length(const char *s);

/* Add s in a form that is safe for a terminal. A line feed and a tab become \n and \t. Other
 * control characters, those that change the direction of text, and bytes that are not UTF-8 become
 * '?'. Without utf8, each character that is not ASCII becomes '?' too. */
void utf8_add_printable(struct text *t, const char *s, bool utf8);

#endif
