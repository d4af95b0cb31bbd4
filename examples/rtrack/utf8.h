/* SPDX-License-Identifier: MIT */
/* Telling text from bytes: command lines and process names may hold anything. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* Length of the character that starts at s, or 0 when the bytes there are not UTF-8. s is not at
 * its end. */
size_t utf8_length(const char *s);

/* Add s so that a terminal shows it harmlessly: control characters and bytes that are not text
 * become '?', or an escape where that is readable. Without utf8, so does all that is not ASCII. */
void utf8_add_printable(struct text *t, const char *s, bool utf8);

#endif
