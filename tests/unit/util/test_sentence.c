/* SPDX-License-Identifier: MIT */
/* The sentence about a cause and an error, and what stands for its placeholders. */
#include "util/sentence.h"

#include <errno.h>
#include <string.h>

#include "suite.h"

static const struct rti_values values = { .error = "broken pipe",
	                                  .file = "/proc/7/stat",
	                                  .name = "make",
	                                  .more = " More.",
	                                  .pid = 7,
	                                  .value = 11,
	                                  .other = 13 };

START_TEST(error_with_a_sentence_of_its_own_has_it_and_another_has_that_of_the_cause)
{
	ck_assert_str_eq(rti_sentence(RTI_CAUSE_READ, -EIO), "$F could not be read in full: $E.");
	ck_assert_str_eq(rti_sentence(RTI_CAUSE_READ, -EPIPE), "$F could not be read: $E.");
	ck_assert_str_eq(rti_sentence(RTI_CAUSE_PTRACE_KILLED, -EIO),
	                 "The program was killed before it could be traced.");
}
END_TEST

START_TEST(cause_without_a_sentence_for_an_error_says_nothing)
{
	char message[64];
	struct rti_text text = rti_text(message, sizeof(message));

	ck_assert(rti_say(&text, RTI_CAUSE_TRACKER, -ENOMEM, NULL));
	ck_assert_str_eq(message, "Memory ran out.");
	ck_assert(!rti_say(&text, RTI_CAUSE_TRACKER, -EPIPE, NULL));
	ck_assert_str_eq(message, "Memory ran out.");
}
END_TEST

START_TEST(placeholders_are_filled_in)
{
	static const struct {
		enum rti_cause cause;
		const char *text;
	} cases[] = {
		{ RTI_CAUSE_READ, "/proc/7/stat could not be read: broken pipe." },
		{ RTI_CAUSE_TRACKER_FLAGS_OF_OTHER,
		  "rt_opts.flags has make, which only  More. takes." },
		{ RTI_CAUSE_FDS_CLOSED,
		  "Descriptor 11, the source of descriptor 13 of the program, is not open." },
		{ RTI_CAUSE_PROGRAM, "The program \"make\" cannot be started: broken pipe. More." },
		{ RTI_CAUSE_THREAD, "11 is the id of a thread of process 7: follow that process." },
	};
	char message[128];
	struct rti_text text = rti_text(message, sizeof(message));

	ck_assert(rti_say(&text, cases[_i].cause, -EPIPE, &values));
	ck_assert_str_eq(message, cases[_i].text);
}
END_TEST

/* So the reason after it fits into a message. */
START_TEST(long_name_in_quotes_is_cut)
{
	char name[100] = "", message[256];
	struct rti_text text = rti_text(message, sizeof(message));

	memset(name, 'n', 80 + (size_t)_i);
	rti_say(&text, RTI_CAUSE_PROGRAM, -EPIPE,
	        &(struct rti_values){ .name = name, .error = "broken pipe" });
	ck_assert_uint_eq(strspn(message + strlen("The program \""), "n"), 80);
	ck_assert_int_eq(strstr(message, "...\" cannot be started: broken pipe.") != NULL, _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sentence");
	TCase *tests = suite_case(suite, "sentences");

	tcase_add_test(tests,
	               error_with_a_sentence_of_its_own_has_it_and_another_has_that_of_the_cause);
	tcase_add_test(tests, cause_without_a_sentence_for_an_error_says_nothing);
	tcase_add_loop_test(tests, placeholders_are_filled_in, 0, 5);
	tcase_add_loop_test(tests, long_name_in_quotes_is_cut, 0, 2);
	return suite_run(suite);
}
