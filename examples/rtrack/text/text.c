/* SPDX-License-Identifier: MIT */
/* A text that is built piece by piece, in a buffer that grows and is reused. */
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"

#define LARGEST_PLAIN 1e16 /* from about here on a double cannot represent every integer */

/* Make room for len more bytes and the final NUL. Without memory, warn and drop the piece: the
 * command that rtrack follows must not fail because of it. Returns 0 or -ENOMEM. */
static int reserve(struct text *t, size_t len)
{
	size_t cap = t->cap ? t->cap : 1024;
	char *data;

	while (cap <= t->len + len)
		cap *= 2;
	if (cap == t->cap)
		return 0;
	data = realloc(t->data, cap);
	if (!data) {
		if (!t->is_short)
			warn("out of memory: some output is lost");
		t->is_short = true;
		return -ENOMEM;
	}
	t->data = data;
	t->cap = cap;
	return 0;
}

void text_clear(struct text *t)
{
	t->len = 0;
	t->is_short = false;
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

int text_print(const struct text *t)
{
	if (t->is_short)
		return EXIT_TROUBLE;
	return fwrite(t->data, 1, t->len, stdout) == t->len ? 0 : EXIT_TROUBLE;
}

void text_bytes(struct text *t, const char *data, size_t len)
{
	if (reserve(t, len) < 0)
		return;
	memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len > 0 && reserve(t, (size_t)len) == 0) {
		vsnprintf(t->data + t->len, (size_t)len + 1, format, again);
		t->len += (size_t)len;
	}
	va_end(again);
	va_end(args);
}

/* Not by printf(), which takes ten times as long: a trace may write a million numbers a second. */
void text_u64(struct text *t, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	text_bytes(t, digits + at, sizeof(digits) - at);
}

void text_i64(struct text *t, int64_t value)
{
	if (value < 0)
		text_bytes(t, "-", 1);
	text_u64(t, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* printf() writes a decimal point in every locale, because rtrack never sets LC_NUMERIC. */
void text_double(struct text *t, double value)
{
	char digits[40];

	if (fabs(value) < LARGEST_PLAIN && value == rint(value)) {
		text_printf(t, "%.1f", value);
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	text_add(t, digits);
}

void text_rounded(struct text *t, double value, int decimals)
{
	char digits[400];

	snprintf(digits, sizeof(digits), "%.*f", decimals, value);
	text_double(t, strtod(digits, NULL));
}

void text_seconds(struct text *t, uint64_t ns)
{
	uint64_t rest = ns % 1000000000;
	char digits[] = ".000000000";
	size_t len = sizeof(digits) - 1;

	for (size_t i = len - 1; rest > 0; i--) {
		digits[i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	while (len > 2 && digits[len - 1] == '0')
		len--;
	text_u64(t, ns / 1000000000);
	text_bytes(t, digits, len);
}

void format_iso_time(char out[ISO_TIME_BYTES], uint64_t ns)
{
	time_t whole = (time_t)(ns / 1000000000);
	struct tm parts;
	char date[40] = "";

	if (gmtime_r(&whole, &parts))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(out, ISO_TIME_BYTES, "%s.%06uZ", date, (unsigned)(ns % 1000000000 / 1000));
}

void text_iso_time(struct text *t, uint64_t ns)
{
	char time[ISO_TIME_BYTES];

	format_iso_time(time, ns);
	text_add(t, time);
}

bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);

	return len > suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}
