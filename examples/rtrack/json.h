/* SPDX-License-Identifier: MIT */
/* JSON, written into a text. The comma before a member comes by itself. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

#include "text.h"

/* Begin with '{' or '[', end with '}' or ']'. key is NULL for an element of an array or the
 * outermost value. */
void json_begin(struct text *t, const char *key, char opening);
void json_end(struct text *t, char closing);

void json_null(struct text *t, const char *key);
void json_bool(struct text *t, const char *key, bool value);
void json_i64(struct text *t, const char *key, int64_t value);
void json_u64(struct text *t, const char *key, uint64_t value);

/* Not a number and infinity become null. */
void json_double(struct text *t, const char *key, double value);
void json_rounded(struct text *t, const char *key, double value, int decimals);

/* NULL becomes null. Bytes that are not UTF-8 become U+FFFD, one each. */
void json_string(struct text *t, const char *key, const char *value);

#endif
