/* SPDX-License-Identifier: MIT */
/* Files of a few bytes, for messages: those of the running system. */
#include "os/word_file.h"

#include <string.h>

#include "suite.h"

static char word[16];

static void set_up(void)
{
	memset(word, 'x', sizeof(word) - 1);
}

START_TEST(word_ends_at_the_end_of_its_line)
{
	rti_read_word(RTI_PROC, "sys/kernel/ostype", word, sizeof(word));
	ck_assert_str_eq(word, "Linux");
}
END_TEST

START_TEST(word_that_is_too_long_is_cut)
{
	rti_read_word(RTI_PROC, "sys/kernel/ostype", word, 4);
	ck_assert_str_eq(word, "Lin");
	ck_assert_int_eq(word[4], 'x');
}
END_TEST

START_TEST(missing_file_has_an_empty_word)
{
	rti_read_word(RTI_PROC, "no/such/file", word, sizeof(word));
	ck_assert_str_eq(word, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("word_file");
	TCase *tests = suite_case(suite, "word_file");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, word_ends_at_the_end_of_its_line);
	tcase_add_test(tests, word_that_is_too_long_is_cut);
	tcase_add_test(tests, missing_file_has_an_empty_word);
	return suite_run(suite);
}
