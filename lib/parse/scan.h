/* SPDX-License-Identifier: MIT */
/* Scans numbers, words and lines within bounds.
 *
 * Pure: bytes in, values out; no descriptor, no allocation, no errno. */
#ifndef RTI_SCAN_H
#define RTI_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes that are left to scan. Invariant: at never passes end, and nothing at or beyond end is
 * read. So the bytes need no terminator. */
struct rti_scan {
	const char *at, *end;
};

/* The text that a line begins with. It includes the ':' or ' ' that ends it, so that no key is the
 * beginning of another. */
struct rti_scan_key {
	const char *text;
	size_t len;
};

#define RTI_SCAN_KEY(text)                                                                         \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* Numbers that follow keys. The caller sets keys, count and value. Invariant: value[i] is set if
 * and only if bit i of has is set. */
struct rti_scan_numbers {
	const struct rti_scan_key *keys; /* 32 at most, in the order in which the kernel has them */
	unsigned count;
	uint64_t *value;
	uint32_t has;
	unsigned next; /* the key that is likely to come next */
};

/* All of the bytes. */
struct rti_scan rti_scan(const char *data, size_t len);

/* Skip spaces and tabs. */
void rti_scan_blanks(struct rti_scan *s);

/* Take the next line, without its '\n', into line. The last line need not end in '\n'. Returns
 * false if no line is left. */
bool rti_scan_line(struct rti_scan *s, struct rti_scan *line);

/* Skip the rest of the line and its '\n'. */
void rti_scan_skip_line(struct rti_scan *s);

/* Take a decimal number after optional blanks. A value above UINT64_MAX becomes UINT64_MAX.
 * Returns false if there is no number. */
bool rti_scan_u64(struct rti_scan *s, uint64_t *out);

/* Take a decimal number with an optional '-' after optional blanks. A value that does not fit is
 * clamped. Returns false if there is no number. */
bool rti_scan_i64(struct rti_scan *s, int64_t *out);

/* Take a counter that the kernel prints as a signed number. A negative one becomes 0. Returns false
 * if there is no number. */
bool rti_scan_clamped(struct rti_scan *s, uint64_t *out);

/* Take a number that must fit the type, as identifiers must. Returns false if there is no number or
 * if it does not fit. */
bool rti_scan_i32(struct rti_scan *s, int32_t *out);
bool rti_scan_u32(struct rti_scan *s, uint32_t *out);

/* Take a decimal fraction such as "0.06". Independent of the locale. Returns false if there is no
 * number. */
bool rti_scan_decimal(struct rti_scan *s, double *out);

/* Take a run of non-blank bytes after optional blanks. Returns false if there is none. */
bool rti_scan_word(struct rti_scan *s, struct rti_scan *word);

/* Take the next item of a list that is separated by ','. E.g.: "rw,cpu,cpuacct". Returns false if
 * no item is left. */
bool rti_scan_item(struct rti_scan *list, struct rti_scan *item);

/* Returns true if s is exactly this text. */
bool rti_scan_is(const struct rti_scan *s, const char *text);

/* Skip count words. Returns false if there are fewer. */
bool rti_scan_skip_words(struct rti_scan *s, unsigned count);

/* Take exactly this text. Returns false, and takes nothing, if s begins with anything else. A
 * macro, so that the compiler knows the length of a string literal. */
#define rti_scan_literal(s, text) rti_scan_text(s, text, strlen(text))
bool rti_scan_text(struct rti_scan *s, const char *text, size_t len);

/* Take the next line, and its number if it begins with one of the keys. Keys may be missing, may
 * come in another order, and may stand among other lines. If a key comes twice, its last number
 * counts. Returns false if no line is left. */
bool rti_scan_keyed_line(struct rti_scan *s, struct rti_scan_numbers *numbers);

/* Take all lines. Returns true if every key had a number. */
bool rti_scan_all_keys(struct rti_scan *s, struct rti_scan_numbers *numbers);

/* Copy s into an array. The copy is cut to fit, ends in NUL, and the rest of the array is
 * zeroed. */
void rti_scan_copy(const struct rti_scan *s, char *out, size_t out_size);

/* Copy s into an array as rti_scan_copy() does, and decode the octal escapes of mountinfo.
 * E.g.: "\040" becomes a space. Returns false if the copy was cut. */
bool rti_scan_copy_unescaped(const struct rti_scan *s, char *out, size_t out_size);

#endif
