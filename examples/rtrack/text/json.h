/* SPDX-License-Identifier: MIT */
/* Writes JSON into a text. Commas are added automatically. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>

#include "text.h"

/* Begin an object with '{' or an array with '[', and end it with '}' or ']'. For an element of an
 * array and for the outermost value, key is NULL. */
void json_begin(struct text *t, const char *key, char opening);
void json_end(struct text *t, char closing);

void json_null(struct text *t, const char *key);
void json_bool(struct text *t, const char *key, bool value);
void json_i64(struct text *t, const char *key, int64_t value);
void json_u64(struct text *t, const char *key, uint64_t value);

/* NaN and infinity become null. */
void json_double(struct text *t, const char *key, double value);
void json_rounded(struct text *t, const char *key, double value, int decimals);

/* Nanoseconds become seconds, exactly. */
void json_exact_seconds(struct text *t, const char *key, uint64_t ns);

/* NULL becomes null. Each byte that is not UTF-8 becomes U+FFFD. */
void json_string(struct text *t, const char *key, const char *value);

#endif
