/* SPDX-License-Identifier: MIT */
/* Bounded scanning of numbers, words and lines. Pure: bytes in, values out; no descriptor,
 * allocation or errno.
 *
 * Invariant: at never passes end; nothing beyond end is read, so the bytes need no terminator. */
#ifndef RTI_SCAN_H
#define RTI_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rti_scan {
	const char *at, *end;
};

/* What a line begins with, to the ':' or ' ' that ends it, so that no key is the beginning of
 * another. */
struct rti_scan_key {
	const char *text;
	size_t len;
};

#define RTI_SCAN_KEY(text)                                                                         \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* Numbers that stand after keys. The caller sets keys, count and value; bit i of has tells that
 * value[i] was there. */
struct rti_scan_numbers {
	const struct rti_scan_key *keys; /* 32 at most, as the kernel orders them */
	unsigned count;
	uint64_t *value;
	uint32_t has;
	unsigned next; /* the key that is likely to come next */
};

static inline struct rti_scan rti_scan(const char *data, size_t len)
{
	return (struct rti_scan){ data, data + len };
}

/* Skip spaces and tabs. */
void rti_scan_blanks(struct rti_scan *s);

/* Take the next line, without its '\n', into line. 0 when there is none left. A last line may
 * lack its '\n'. */
bool rti_scan_line(struct rti_scan *s, struct rti_scan *line);

/* Skip what is left of the line, and its '\n'. */
void rti_scan_skip_line(struct rti_scan *s);

/* Take a decimal number after optional blanks. A value past UINT64_MAX is taken as UINT64_MAX. 0
 * when none is there. */
bool rti_scan_u64(struct rti_scan *s, uint64_t *out);

/* The same with an optional '-'; clamped to the type. */
bool rti_scan_i64(struct rti_scan *s, int64_t *out);

/* Take a number that must fit the type, as identifiers must. 0 when none is there or it does not
 * fit. */
bool rti_scan_i32(struct rti_scan *s, int32_t *out);
bool rti_scan_u32(struct rti_scan *s, uint32_t *out);

/* Take a number such as "0.06". Independent of the locale. 0 when none is there. */
bool rti_scan_decimal(struct rti_scan *s, double *out);

/* Take a run of non-blank bytes after optional blanks. 0 when none is left. */
bool rti_scan_word(struct rti_scan *s, struct rti_scan *word);

/* Skip count words. 0 when there are fewer. */
bool rti_scan_skip_words(struct rti_scan *s, unsigned count);

/* Take exactly this text. 0, and nothing taken, when something else is there. Inline, so that
 * the compiler knows the length of a text that is written where this is called. */
static inline bool rti_scan_literal(struct rti_scan *s, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(s->end - s->at) < len || memcmp(s->at, text, len) != 0)
		return false;
	s->at += len;
	return true;
}

/* Take the next line, and its number when it begins with one of the keys. Keys may be missing,
 * in another order, and among lines of other kinds; the last number of a key counts. 0 when no
 * line is left. */
bool rti_scan_keyed_line(struct rti_scan *s, struct rti_scan_numbers *numbers);

/* Take all lines. 1 when every key had its number. */
bool rti_scan_all_keys(struct rti_scan *s, struct rti_scan_numbers *numbers);

/* Copy into a fixed array, cut to fit, NUL-terminated, and zeroed to its end. */
void rti_scan_copy(const struct rti_scan *s, char *out, size_t out_size);

/* The same, with the octal escapes of mountinfo (\040) decoded. 0 when it was cut. */
bool rti_scan_copy_unescaped(const struct rti_scan *s, char *out, size_t out_size);

#endif
