/* SPDX-License-Identifier: MIT */
/* Scans numbers, words and lines within bounds. */
#include "parse/scan.h"

/* A value below this stays below 2^53 with one more digit, so that a double holds it exactly. */
#define EXACT_BEFORE_DIGIT UINT64_C(100000000000000)

#define DIGITS_THAT_FIT 19 /* any number of so many digits fits in 64 bits */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the value of a digit, or more than 9 if c is not one. */
static unsigned digit_value(char c)
{
	return (unsigned char)c - (unsigned)'0';
}

static bool is_digit(char c)
{
	return digit_value(c) <= 9;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

struct rti_scan rti_scan(const char *data, size_t len)
{
	return (struct rti_scan){ data, data + len };
}

/* Works on a copy of s->at. A char may alias s, so the compiler would otherwise store s->at before
 * it reads each char. */
void rti_scan_blanks(struct rti_scan *s)
{
	const char *at = s->at, *end = s->end;

	while (at < end && is_blank(*at))
		at++;
	s->at = at;
}

bool rti_scan_line(struct rti_scan *s, struct rti_scan *line)
{
	const char *newline;

	if (s->at >= s->end)
		return false;
	newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
	line->at = s->at;
	line->end = newline ? newline : s->end;
	s->at = newline ? newline + 1 : s->end;
	return true;
}

void rti_scan_skip_line(struct rti_scan *s)
{
	struct rti_scan line;

	if (s->at < s->end && *s->at == '\n')
		s->at++;
	else
		rti_scan_line(s, &line);
}

static uint64_t clamped_value(const char *at, const char *end)
{
	uint64_t value = 0;
	bool is_past = false;

	for (; at < end; at++) {
		is_past |= __builtin_mul_overflow(value, 10, &value);
		is_past |= __builtin_add_overflow(value, digit_value(*at), &value);
	}
	return is_past ? UINT64_MAX : value;
}

static bool scan_digits(struct rti_scan *s, uint64_t *out)
{
	const char *at = s->at, *end = s->end;
	uint64_t value = 0;

	for (; at < end && is_digit(*at); at++)
		value = value * 10 + digit_value(*at);
	if (at == s->at)
		return false;
	*out = at - s->at <= DIGITS_THAT_FIT ? value : clamped_value(s->at, at);
	s->at = at;
	return true;
}

bool rti_scan_u64(struct rti_scan *s, uint64_t *out)
{
	rti_scan_blanks(s);
	return scan_digits(s, out);
}

bool rti_scan_i64(struct rti_scan *s, int64_t *out)
{
	struct rti_scan number;
	uint64_t magnitude;
	bool is_negative;

	rti_scan_blanks(s);
	number = *s;
	is_negative = rti_scan_literal(&number, "-");
	if (!scan_digits(&number, &magnitude))
		return false;
	*s = number;
	if (magnitude > INT64_MAX)
		*out = is_negative ? INT64_MIN : INT64_MAX;
	else
		*out = is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

bool rti_scan_clamped(struct rti_scan *s, uint64_t *out)
{
	int64_t value;

	if (!rti_scan_i64(s, &value))
		return false;
	*out = value < 0 ? 0 : (uint64_t)value;
	return true;
}

bool rti_scan_i32(struct rti_scan *s, int32_t *out)
{
	int64_t value;

	if (!rti_scan_i64(s, &value) || value < INT32_MIN || value > INT32_MAX)
		return false;
	*out = (int32_t)value;
	return true;
}

bool rti_scan_u32(struct rti_scan *s, uint32_t *out)
{
	uint64_t value;

	if (!rti_scan_u64(s, &value) || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

/* A single division of two exact operands rounds as strtod() does. Digits beyond that precision are
 * dropped. */
bool rti_scan_decimal(struct rti_scan *s, double *out)
{
	uint64_t digits;
	double scale = 1;

	if (!rti_scan_u64(s, &digits))
		return false;
	if (rti_scan_literal(s, ".")) {
		for (; s->at < s->end && is_digit(*s->at); s->at++) {
			if (digits >= EXACT_BEFORE_DIGIT)
				continue;
			digits = digits * 10 + digit_value(*s->at);
			scale *= 10;
		}
	}
	*out = (double)digits / scale;
	return true;
}

bool rti_scan_word(struct rti_scan *s, struct rti_scan *word)
{
	const char *at, *end = s->end;

	rti_scan_blanks(s);
	for (at = s->at; at < end && !is_blank(*at); at++)
		;
	*word = (struct rti_scan){ s->at, at };
	s->at = at;
	return word->at < word->end;
}

bool rti_scan_item(struct rti_scan *list, struct rti_scan *item)
{
	const char *comma;

	if (list->at == list->end)
		return false;
	comma = memchr(list->at, ',', (size_t)(list->end - list->at));
	*item = (struct rti_scan){ list->at, comma ? comma : list->end };
	list->at = comma ? comma + 1 : list->end;
	return true;
}

bool rti_scan_skip_words(struct rti_scan *s, unsigned count)
{
	struct rti_scan word;

	for (; count > 0; count--)
		if (!rti_scan_word(s, &word))
			return false;
	return true;
}

/* Compare the first byte first: most keys differ in it. */
static bool begins_with(const struct rti_scan *s, const struct rti_scan_key *key)
{
	return *s->at == *key->text && (size_t)(s->end - s->at) >= key->len &&
	       memcmp(s->at, key->text, key->len) == 0;
}

/* Find the key that s begins with. Try the one that is likely to come next first, then those after
 * it, then those before it. Returns its index, or numbers->count if there is none. */
static unsigned find_key(const struct rti_scan *s, const struct rti_scan_numbers *numbers)
{
	for (unsigned key = numbers->next; key < numbers->count; key++)
		if (begins_with(s, &numbers->keys[key]))
			return key;
	for (unsigned key = 0; key < numbers->next; key++)
		if (begins_with(s, &numbers->keys[key]))
			return key;
	return numbers->count;
}

bool rti_scan_is(const struct rti_scan *s, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(s->end - s->at) == len && memcmp(s->at, text, len) == 0;
}

bool rti_scan_text(struct rti_scan *s, const char *text, size_t len)
{
	if ((size_t)(s->end - s->at) < len || memcmp(s->at, text, len) != 0)
		return false;
	s->at += len;
	return true;
}

bool rti_scan_keyed_line(struct rti_scan *s, struct rti_scan_numbers *numbers)
{
	unsigned key;

	if (s->at >= s->end)
		return false;
	key = find_key(s, numbers);
	if (key < numbers->count) {
		s->at += numbers->keys[key].len;
		numbers->has |= (uint32_t)rti_scan_u64(s, &numbers->value[key]) << key;
		numbers->next = key + 1;
	}
	rti_scan_skip_line(s);
	return true;
}

bool rti_scan_all_keys(struct rti_scan *s, struct rti_scan_numbers *numbers)
{
	while (rti_scan_keyed_line(s, numbers))
		;
	return numbers->has == (UINT64_C(1) << numbers->count) - 1;
}

void rti_scan_copy(const struct rti_scan *s, char *out, size_t out_size)
{
	size_t len = (size_t)(s->end - s->at);

	if (len >= out_size)
		len = out_size - 1;
	memcpy(out, s->at, len);
	memset(out + len, 0, out_size - len);
}

/* Take one byte of escaped text. A backslash stands for itself unless three octal digits of a byte
 * follow it. */
static char copy_unescaped(struct rti_scan *s)
{
	const char *at = s->at;

	if (s->end - at >= 4 && at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && is_octal(at[2]) &&
	    is_octal(at[3])) {
		s->at += 4;
		return (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
	}
	s->at++;
	return *at;
}

bool rti_scan_copy_unescaped(const struct rti_scan *s, char *out, size_t out_size)
{
	struct rti_scan rest = *s;
	size_t len = 0;

	while (rest.at < rest.end && len < out_size - 1)
		out[len++] = copy_unescaped(&rest);
	memset(out + len, 0, out_size - len);
	return rest.at == rest.end;
}
