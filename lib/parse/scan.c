/* SPDX-License-Identifier: MIT */
/* Bounded scanning of numbers, words and lines. */
#include "parse/scan.h"

#include <string.h>

/* Up to here one more digit keeps a value below 2^53, which a double holds exactly. */
#define EXACT_BEFORE_DIGIT UINT64_C(100000000000000)

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_octal(char c)
{
	return c >= '0' && c <= '7';
}

void rti_scan_blanks(struct rti_scan *s)
{
	while (s->at < s->end && is_blank(*s->at))
		s->at++;
}

int rti_scan_line(struct rti_scan *s, struct rti_scan *line)
{
	const char *newline;

	if (s->at >= s->end)
		return 0;
	newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
	line->at = s->at;
	line->end = newline ? newline : s->end;
	s->at = newline ? newline + 1 : s->end;
	return 1;
}

static int take_digits(struct rti_scan *s, uint64_t *out)
{
	const char *at = s->at;
	uint64_t value = 0;
	int is_past = 0;

	for (; at < s->end && is_digit(*at); at++) {
		is_past |= __builtin_mul_overflow(value, 10, &value);
		is_past |= __builtin_add_overflow(value, (unsigned)(*at - '0'), &value);
	}
	if (at == s->at)
		return 0;
	s->at = at;
	*out = is_past ? UINT64_MAX : value;
	return 1;
}

int rti_scan_u64(struct rti_scan *s, uint64_t *out)
{
	rti_scan_blanks(s);
	return take_digits(s, out);
}

int rti_scan_i64(struct rti_scan *s, int64_t *out)
{
	struct rti_scan number;
	uint64_t magnitude;
	int is_negative;

	rti_scan_blanks(s);
	number = *s;
	is_negative = rti_scan_literal(&number, "-");
	if (!take_digits(&number, &magnitude))
		return 0;
	*s = number;
	if (magnitude > INT64_MAX)
		*out = is_negative ? INT64_MIN : INT64_MAX;
	else
		*out = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return 1;
}

int rti_scan_i32(struct rti_scan *s, int32_t *out)
{
	int64_t value;

	if (!rti_scan_i64(s, &value) || value < INT32_MIN || value > INT32_MAX)
		return 0;
	*out = (int32_t)value;
	return 1;
}

int rti_scan_u32(struct rti_scan *s, uint32_t *out)
{
	uint64_t value;

	if (!rti_scan_u64(s, &value) || value > UINT32_MAX)
		return 0;
	*out = (uint32_t)value;
	return 1;
}

/* One division of exact operands rounds as strtod() does; digits past that precision are dropped. */
int rti_scan_decimal(struct rti_scan *s, double *out)
{
	uint64_t digits;
	double scale = 1;

	if (!rti_scan_u64(s, &digits))
		return 0;
	if (rti_scan_literal(s, ".")) {
		for (; s->at < s->end && is_digit(*s->at); s->at++) {
			if (digits >= EXACT_BEFORE_DIGIT)
				continue;
			digits = digits * 10 + (unsigned)(*s->at - '0');
			scale *= 10;
		}
	}
	*out = (double)digits / scale;
	return 1;
}

int rti_scan_word(struct rti_scan *s, struct rti_scan *word)
{
	rti_scan_blanks(s);
	word->at = s->at;
	while (s->at < s->end && !is_blank(*s->at))
		s->at++;
	word->end = s->at;
	return word->at < word->end;
}

int rti_scan_skip_words(struct rti_scan *s, unsigned count)
{
	struct rti_scan word;

	for (; count > 0; count--)
		if (!rti_scan_word(s, &word))
			return 0;
	return 1;
}

int rti_scan_literal(struct rti_scan *s, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, text, len) != 0)
		return 0;
	s->at += len;
	return 1;
}

void rti_scan_copy(const struct rti_scan *s, char *out, size_t out_size)
{
	size_t len = (size_t)(s->end - s->at);

	if (len >= out_size)
		len = out_size - 1;
	memcpy(out, s->at, len);
	memset(out + len, 0, out_size - len);
}

/* Take one byte of escaped text. A backslash without three octal digits of a byte stands for itself. */
static char take_unescaped(struct rti_scan *s)
{
	const char *at = s->at;

	if (s->end - at >= 4 && at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && is_octal(at[2]) && is_octal(at[3])) {
		s->at += 4;
		return (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
	}
	s->at++;
	return *at;
}

int rti_scan_copy_unescaped(const struct rti_scan *s, char *out, size_t out_size)
{
	struct rti_scan rest = *s;
	size_t len = 0;

	while (rest.at < rest.end && len < out_size - 1)
		out[len++] = take_unescaped(&rest);
	memset(out + len, 0, out_size - len);
	return rest.at == rest.end;
}
