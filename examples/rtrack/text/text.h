/* SPDX-License-Identifier: MIT */
/* A text that is built piece by piece, in a buffer that grows and is reused. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data; /* NULL at first; NUL-terminated once it is allocated */
	size_t len, cap;
	bool is_short; /* a piece is missing, for lack of memory */
};

void text_clear(struct text *t);
void text_free(struct text *t);

/* Write it to standard output. A text with a missing piece is not written. Returns the exit code: 0
 * or EXIT_TROUBLE. */
int text_print(const struct text *t);

void text_bytes(struct text *t, const char *data, size_t len);
void text_add(struct text *t, const char *s);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add a whole number. */
void text_u64(struct text *t, uint64_t value);
void text_i64(struct text *t, int64_t value);

/* Add the shortest decimal form that reads back as the same number. It always has a point or an
 * exponent. */
void text_double(struct text *t, double value);

/* The same, but round to so many decimals first. */
void text_rounded(struct text *t, double value, int decimals);

/* Add nanoseconds as seconds, exactly, with a point. E.g.: 1500000000 becomes 1.5. */
void text_seconds(struct text *t, uint64_t ns);

enum { ISO_TIME_BYTES = 64 };

/* Format or add a time since 1970 in UTC, as ISO 8601, to the microsecond. E.g.:
 * 2026-11-22T19:00:55.123456Z. */
void format_iso_time(char out[ISO_TIME_BYTES], uint64_t ns);
void text_iso_time(struct text *t, uint64_t ns);

/* Whether a name has this suffix, and something before it. */
bool has_suffix(const char *name, const char *suffix);

#endif
