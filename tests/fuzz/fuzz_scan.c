/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes through every call of the scanner. */
#include "fuzz.h"

#include "parse/scan.h"

static void require_inside(const struct rti_scan *inner, const struct rti_scan *outer)
{
	require(outer->at <= inner->at && inner->at <= inner->end && inner->end <= outer->end);
}

/* Whatever it finds, the scan stays within its bytes. */
static void scan_numbers(struct rti_scan s)
{
	const struct rti_scan whole = s;
	uint64_t u64;
	int64_t i64;
	uint32_t u32;
	int32_t i32;
	double decimal = 0;

	while (s.at < s.end) {
		const char *before = s.at;

		rti_scan_u64(&s, &u64);
		rti_scan_i64(&s, &i64);
		rti_scan_decimal(&s, &decimal);
		rti_scan_u32(&s, &u32);
		rti_scan_i32(&s, &i32);
		require_inside(&s, &whole);
		require(decimal >= 0);
		if (s.at == before)
			s.at++;
	}
}

static void scan_words(struct rti_scan s)
{
	const struct rti_scan whole = s;
	struct rti_scan word;

	while (rti_scan_word(&s, &word)) {
		char cut[8];

		require_inside(&word, &whole);
		require(!memchr(word.at, ' ', (size_t)(word.end - word.at)));
		rti_scan_copy(&word, cut, sizeof(cut));
		require_string(cut, sizeof(cut));
		if (rti_scan_copy_unescaped(&word, cut, sizeof(cut)))
			require(word.end - word.at <= 4 * (ptrdiff_t)sizeof(cut));
		require_string(cut, sizeof(cut));
		rti_scan_literal(&s, " -");
	}
	require(s.at == s.end);
}

enum { ONE, TWO, THREE, KEYS };

static const struct rti_scan_key keys[KEYS] = {
	[ONE] = RTI_SCAN_KEY("a:"),
	[TWO] = RTI_SCAN_KEY("ab:"),
	[THREE] = RTI_SCAN_KEY("b "),
};

/* Finds the keyed values line by line and key by key, as a reference. */
static void scan_reference(struct rti_scan *line, struct rti_scan_numbers *numbers)
{
	for (unsigned key = 0; key < KEYS; key++) {
		if (rti_scan_literal(line, keys[key].text)) {
			numbers->has |= (uint32_t)rti_scan_u64(line, &numbers->value[key]) << key;
			return;
		}
	}
}

static void scan_keyed_lines(struct rti_scan s)
{
	uint64_t value[KEYS] = { 0 }, slow_value[KEYS] = { 0 };
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = value };
	struct rti_scan_numbers slow = { .value = slow_value };
	struct rti_scan rest = s, line;

	while (rti_scan_line(&rest, &line)) {
		scan_reference(&line, &slow);
		require(rti_scan_keyed_line(&s, &numbers));
		require(s.at == rest.at);
	}
	require(!rti_scan_keyed_line(&s, &numbers));
	require(numbers.has == slow.has && memcmp(value, slow_value, sizeof(value)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rti_scan s = rti_scan((const char *)data, len), line;
	size_t bytes_seen = 0;

	scan_numbers(s);
	scan_keyed_lines(s);
	while (rti_scan_line(&s, &line)) {
		bytes_seen +=
		    (size_t)(line.end - line.at) + (line.end < s.end && *line.end == '\n');
		scan_words(line);
	}
	require(bytes_seen == len);
	return 0;
}
