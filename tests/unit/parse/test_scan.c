/* SPDX-License-Identifier: MIT */
/* The scanner: numbers at and past their limits, words, lines, copies. */
#include "exact.h"

#include <locale.h>
#include <stdio.h>

#include "parse/scan.h"
#include "suite.h"

static struct rti_scan scan_text(const char *text)
{
	struct exact copy = exact(text);

	return rti_scan(copy.data, copy.len);
}

static void assert_rest(const struct rti_scan *s, const char *rest)
{
	ck_assert_uint_eq((size_t)(s->end - s->at), strlen(rest));
	ck_assert_mem_eq(s->at, rest, strlen(rest));
}

static const struct {
	const char *text;
	bool found;
	uint64_t value;
	const char *rest;
} unsigned_numbers[] = {
	{ "0", true, 0, "" },
	{ "  \t7", true, 7, "" },
	{ "007", true, 7, "" },
	{ "12kB", true, 12, "kB" },
	{ "1\n2", true, 1, "\n2" },
	{ "18446744073709551614", true, UINT64_MAX - 1, "" },
	{ "18446744073709551615", true, UINT64_MAX, "" },
	{ "18446744073709551616", true, UINT64_MAX, "" },
	/* the largest number that needs no overflow check */
	{ "9999999999999999999", true, UINT64_C(9999999999999999999), "" },
	{ "00000000000000000000000000000000000000042", true, 42, "" },
	{ "000000000000000000000018446744073709551614", true, UINT64_MAX - 1, "" },
	{ "184467440737095516150 1", true, UINT64_MAX, " 1" },
	{ "99999999999999999999999999999999999999999", true, UINT64_MAX, "" },
	/* 2^65 + 1: wraps to a small number if unchecked */
	{ "36893488147419103233", true, UINT64_MAX, "" },
	{ "-1", false, 0, "" },
	{ "+1", false, 0, "" },
	{ "", false, 0, "" },
	{ "  ", false, 0, "" },
	{ "x", false, 0, "" },
};

START_TEST(u64_of_any_text_is_parsed_or_refused)
{
	struct rti_scan s = scan_text(unsigned_numbers[_i].text);
	uint64_t value = 42;

	ck_assert_int_eq(rti_scan_u64(&s, &value), unsigned_numbers[_i].found);
	if (!unsigned_numbers[_i].found)
		return;
	ck_assert_uint_eq(value, unsigned_numbers[_i].value);
	assert_rest(&s, unsigned_numbers[_i].rest);
}
END_TEST

static const struct {
	const char *text;
	bool found;
	int64_t value;
} signed_numbers[] = {
	{ "0", true, 0 },
	{ " -1", true, -1 },
	{ "-0", true, 0 },
	{ "9223372036854775807", true, INT64_MAX },
	{ "9223372036854775808", true, INT64_MAX },
	{ "-9223372036854775807", true, -INT64_MAX },
	{ "-9223372036854775808", true, INT64_MIN },
	{ "-9223372036854775809", true, INT64_MIN },
	{ "-99999999999999999999999", true, INT64_MIN },
	{ "-", false, 0 },
	{ "--1", false, 0 },
	{ "- 1", false, 0 },
	{ "", false, 0 },
};

START_TEST(i64_of_any_text_is_parsed_or_refused)
{
	struct rti_scan s = scan_text(signed_numbers[_i].text);
	int64_t value = 42;

	ck_assert_int_eq(rti_scan_i64(&s, &value), signed_numbers[_i].found);
	if (signed_numbers[_i].found)
		ck_assert_int_eq(value, signed_numbers[_i].value);
}
END_TEST

START_TEST(number_beyond_32_bits_is_refused)
{
	struct rti_scan s = scan_text("2147483647 -2147483648 2147483648");
	struct rti_scan u = scan_text("4294967295 4294967296");
	uint32_t big = 0;
	int32_t id = 0;

	ck_assert(rti_scan_i32(&s, &id));
	ck_assert_int_eq(id, INT32_MAX);
	ck_assert(rti_scan_i32(&s, &id));
	ck_assert_int_eq(id, INT32_MIN);
	ck_assert(!rti_scan_i32(&s, &id));
	ck_assert(rti_scan_u32(&u, &big));
	ck_assert_uint_eq(big, UINT32_MAX);
	ck_assert(!rti_scan_u32(&u, &big));
}
END_TEST

static const char *const decimals[] = {
	"0.06",
	"0.00",
	"1.5",
	"12",
	"3.",
	"1024.99",
	"0.1",
	"0.7",
	"4503599.27",
	"99999999999999.9",
	"0.00000000000001",
};

START_TEST(decimal_in_range_equals_strtod)
{
	struct rti_scan s = scan_text(decimals[_i]);
	double value = -1;

	ck_assert(rti_scan_decimal(&s, &value));
	ck_assert_double_eq(value, strtod(decimals[_i], NULL));
	assert_rest(&s, "");
}
END_TEST

START_TEST(decimal_of_any_length_is_parsed)
{
	struct rti_scan s =
	    scan_text("0.333333333333333333333333333333333333333333 99999999999999999999999.5 .5");
	double value = -1;

	ck_assert(rti_scan_decimal(&s, &value));
	ck_assert_double_eq_tol(value, 1.0 / 3, 1e-12);
	ck_assert(rti_scan_decimal(&s, &value));
	ck_assert_double_eq(value, (double)UINT64_MAX);
	ck_assert(!rti_scan_decimal(&s, &value));
}
END_TEST

/* If none of these locales is installed, this repeats the test of the C locale. */
START_TEST(decimal_in_comma_locale_uses_a_point)
{
	static const char *const comma_locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "hu_HU.UTF-8",
		                                     "de_DE", "fr_FR" };
	struct rti_scan s = scan_text("0.25,5");
	double value = -1;

	for (unsigned i = 0; i < sizeof(comma_locales) / sizeof(comma_locales[0]); i++)
		if (setlocale(LC_ALL, comma_locales[i]))
			break;
	ck_assert(rti_scan_decimal(&s, &value));
	ck_assert_double_eq(value, 0.25);
	assert_rest(&s, ",5");
}
END_TEST

START_TEST(lines_with_or_without_final_newline_are_split)
{
	struct rti_scan s = scan_text("a\n\nlast"), line;

	ck_assert(rti_scan_line(&s, &line));
	assert_rest(&line, "a");
	ck_assert(rti_scan_line(&s, &line));
	assert_rest(&line, "");
	ck_assert(rti_scan_line(&s, &line));
	assert_rest(&line, "last");
	ck_assert(!rti_scan_line(&s, &line));

	s = scan_text("a\n");
	ck_assert(rti_scan_line(&s, &line));
	ck_assert(!rti_scan_line(&s, &line));

	s = scan_text("");
	ck_assert(!rti_scan_line(&s, &line));
}
END_TEST

START_TEST(words_between_blanks_are_split)
{
	struct rti_scan s = scan_text(" one\ttwo   three "), word;

	ck_assert(rti_scan_word(&s, &word));
	assert_rest(&word, "one");
	ck_assert(rti_scan_skip_words(&s, 1));
	ck_assert(rti_scan_word(&s, &word));
	assert_rest(&word, "three");
	ck_assert(!rti_scan_word(&s, &word));

	s = scan_text("one two");
	ck_assert(!rti_scan_skip_words(&s, 3));

	s = scan_text("");
	ck_assert(rti_scan_skip_words(&s, 0));
}
END_TEST

START_TEST(literal_that_differs_consumes_nothing)
{
	struct rti_scan s = scan_text("Pss: 1");

	ck_assert(!rti_scan_literal(&s, "Pss_"));
	ck_assert(!rti_scan_literal(&s, "Pss: 12"));
	assert_rest(&s, "Pss: 1");
	ck_assert(rti_scan_literal(&s, "Pss:"));
	assert_rest(&s, " 1");
}
END_TEST

START_TEST(skip_line_from_any_position_reaches_the_next_line)
{
	struct rti_scan s = scan_text("ab\n\nlast"), none = scan_text("");

	s.at++;
	rti_scan_skip_line(&s);
	assert_rest(&s, "\nlast");

	rti_scan_skip_line(&s);
	assert_rest(&s, "last");

	rti_scan_skip_line(&s);
	assert_rest(&s, "");

	rti_scan_skip_line(&s);
	assert_rest(&s, "");

	rti_scan_skip_line(&none);
	assert_rest(&none, "");
}
END_TEST

enum { ONE, TWO, THREE, KEYS };

static const struct rti_scan_key keys[KEYS] = {
	[ONE] = RTI_SCAN_KEY("one:"),
	[TWO] = RTI_SCAN_KEY("two(x):"),
	[THREE] = RTI_SCAN_KEY("three "),
};

#define HAS(key) (1u << key)
#define HAS_ALL (HAS(ONE) | HAS(TWO) | HAS(THREE))

static const struct {
	const char *text;
	unsigned lines, has;
	uint64_t value[KEYS];
} keyed[] = {
	{ "one: 1\ntwo(x):\t2 kB\nthree 3\n", 3, HAS_ALL, { 1, 2, 3 } },
	{ "three 3\ntwo(x): 2\none: 1\n", 3, HAS_ALL, { 1, 2, 3 } },
	{ "two(x): 2\nthree 3\none: 1\n", 3, HAS_ALL, { 1, 2, 3 } },
	{ "one: 1\nthree 3\n", 2, HAS(ONE) | HAS(THREE), { 1, 0, 3 } },
	{ "one: 1\nnew: 9\n\ntwo(x): 2\nold 9\nthree 3\n", 6, HAS_ALL, { 1, 2, 3 } },
	{ "one: 1\ntwo(x): 2\nthree 3", 3, HAS_ALL, { 1, 2, 3 } },
	{ "one:1\ntwo(x): 2\nthree 3 9 9\n", 3, HAS_ALL, { 1, 2, 3 } },
	{ "one: 1\ntwo(x): 2\none: 7\nthree 3\none: x\ntwo(x):", 6, HAS_ALL, { 7, 2, 3 } },
	{ "one: 1\none: 2\none: 3\n", 3, HAS(ONE), { 3 } },
	{ "one_more: 9\none : 9\non\ntwo: 9\ntwo(xy): 9\nthree: 9\nthree\n", 7, 0, { 0 } },
	{ " one: 9\nxone: 9\none one: 9\n", 3, 0, { 0 } },
	{ "one:\n9\none: \n 9\none: -9\n", 5, 0, { 0 } },
	{ "one: 99999999999999999999\ntw", 2, HAS(ONE), { UINT64_MAX } },
	{ "one: 1\ntwo(x):", 2, HAS(ONE), { 1 } },
	{ "\n\n", 2, 0, { 0 } },
	{ "", false, 0, { 0 } },
};

START_TEST(keyed_lines_in_any_order_yield_their_numbers)
{
	struct rti_scan s = scan_text(keyed[_i].text);
	uint64_t value[KEYS] = { 0 };
	struct rti_scan_numbers numbers = { .keys = keys, .count = KEYS, .value = value };
	unsigned lines = 0;

	while (rti_scan_keyed_line(&s, &numbers))
		lines++;
	assert_rest(&s, "");
	ck_assert_uint_eq(lines, keyed[_i].lines);
	ck_assert_uint_eq(numbers.has, keyed[_i].has);
	ck_assert_mem_eq(value, keyed[_i].value, sizeof(value));
}
END_TEST

START_TEST(copy_into_small_buffer_is_cut_and_zero_filled)
{
	struct rti_scan s = scan_text("abcdef");
	char out[8];

	memset(out, 'x', sizeof(out));
	rti_scan_copy(&s, out, sizeof(out));
	ck_assert_mem_eq(out, "abcdef\0", 8);

	memset(out, 'x', sizeof(out));
	rti_scan_copy(&s, out, 4);
	ck_assert_mem_eq(out, "abc\0xxxx", 8);

	rti_scan_copy(&s, out, 7);
	ck_assert_str_eq(out, "abcdef");

	rti_scan_copy(&s, out, 1);
	ck_assert_str_eq(out, "");
}
END_TEST

static const struct {
	const char *text, *decoded;
} escapes[] = {
	{ "plain", "plain" },   { "a\\040b", "a b" },    { "\\011\\012\\134\\043", "\t\n\\#" },
	{ "\\040\\040", "  " }, { "\\134040", "\\040" }, /* decoded once, not again */
	{ "\\377", "\377" },    { "\\400", "\\400" },    { "\\9", "\\9" },
	{ "\\08x", "\\08x" },   { "\\04", "\\04" },      { "\\0", "\\0" },
	{ "end\\", "end\\" },   { "\\\\040", "\\ " },    { "", "" },
};

START_TEST(octal_escapes_are_decoded_once)
{
	struct rti_scan s = scan_text(escapes[_i].text);
	char out[32];

	ck_assert(rti_scan_copy_unescaped(&s, out, sizeof(out)));
	ck_assert_str_eq(out, escapes[_i].decoded);
	assert_rest(&s, escapes[_i].text);
}
END_TEST

START_TEST(unescaped_copy_that_is_cut_returns_false)
{
	struct rti_scan s = scan_text("ab\\040d");
	char out[8];

	memset(out, 'x', sizeof(out));
	ck_assert(rti_scan_copy_unescaped(&s, out, 5));
	ck_assert_mem_eq(out, "ab d\0xxx", 8);
	ck_assert(!rti_scan_copy_unescaped(&s, out, 4));
	ck_assert_str_eq(out, "ab ");
	ck_assert(!rti_scan_copy_unescaped(&s, out, 1));
	ck_assert_str_eq(out, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan");
	TCase *numbers = suite_case(suite, "numbers"), *text = suite_case(suite, "text");
	TCase *copy = suite_case(suite, "copy");

	tcase_add_loop_test(numbers, u64_of_any_text_is_parsed_or_refused, 0,
	                    sizeof(unsigned_numbers) / sizeof(unsigned_numbers[0]));
	tcase_add_loop_test(numbers, i64_of_any_text_is_parsed_or_refused, 0,
	                    sizeof(signed_numbers) / sizeof(signed_numbers[0]));
	tcase_add_test(numbers, number_beyond_32_bits_is_refused);
	tcase_add_loop_test(numbers, decimal_in_range_equals_strtod, 0,
	                    sizeof(decimals) / sizeof(decimals[0]));
	tcase_add_test(numbers, decimal_of_any_length_is_parsed);
	tcase_add_test(numbers, decimal_in_comma_locale_uses_a_point);
	tcase_add_test(text, lines_with_or_without_final_newline_are_split);
	tcase_add_test(text, words_between_blanks_are_split);
	tcase_add_test(text, literal_that_differs_consumes_nothing);
	tcase_add_test(text, skip_line_from_any_position_reaches_the_next_line);
	tcase_add_loop_test(text, keyed_lines_in_any_order_yield_their_numbers, 0,
	                    sizeof(keyed) / sizeof(keyed[0]));
	tcase_add_test(copy, copy_into_small_buffer_is_cut_and_zero_filled);
	tcase_add_loop_test(copy, octal_escapes_are_decoded_once, 0,
	                    sizeof(escapes) / sizeof(escapes[0]));
	tcase_add_test(copy, unescaped_copy_that_is_cut_returns_false);
	return suite_run(suite);
}
