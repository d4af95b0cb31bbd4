/* SPDX-License-Identifier: MIT */
/* A text that does not fit ends after a whole word. */
#include "util/text.h"

#include <string.h>

#include "suite.h"

static const struct {
	size_t size;
	const char *text, *result;
} cases[] = {
	{ 14, "one two three", "one two three" },
	{ 13, "one two three", "one two..." },
	{ 11, "one two three", "one two..." },
	{ 10, "one two three", "one..." },
	{ 15, "one two, three", "one two, three" },
	{ 14, "one two, three", "one two..." },
	{ 12, "/a/long/path", "/a/long/..." },
	{ 8, "caf\xc3\xa9s of", "caf..." },
	{ 4, "one two", "..." },
	{ 2, "one two", "." },
	{ 1, "one two", "" },
};

START_TEST(text_that_does_not_fit_is_cut_after_a_word)
{
	char out[32];
	struct rti_text text = rti_text(out, cases[_i].size);

	memset(out + 1, '#', sizeof(out) - 1);
	rti_text_add(&text, cases[_i].text);
	ck_assert_str_eq(out, cases[_i].result);
	for (size_t i = cases[_i].size; i < sizeof(out); i++)
		ck_assert_int_eq(out[i], '#');
}
END_TEST

START_TEST(parts_are_cut_as_one_text)
{
	char whole[32], out[32];

	for (size_t size = 1; size < 30; size++) {
		struct rti_text text = rti_text(whole, size), parts = rti_text(out, size);

		rti_text_add(&text, "process 1234567 is not there");
		rti_text_add(&parts, "process ");
		rti_text_add_number(&parts, 1234567);
		for (const char *at = " is not there"; *at; at++)
			rti_text_add(&parts, (const char[]){ *at, '\0' });
		ck_assert_str_eq(out, whole);
	}
}
END_TEST

START_TEST(nothing_follows_the_end_that_was_cut)
{
	char out[12];
	struct rti_text text = rti_text(out, sizeof(out));

	rti_text_add(&text, "one two three");
	rti_text_add(&text, " four");
	rti_text_add_number(&text, 5);
	ck_assert_str_eq(out, "one two...");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = suite_case(suite, "texts");

	tcase_add_loop_test(tests, text_that_does_not_fit_is_cut_after_a_word, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tests, parts_are_cut_as_one_text);
	tcase_add_test(tests, nothing_follows_the_end_that_was_cut);
	return suite_run(suite);
}
