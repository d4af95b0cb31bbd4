/* SPDX-License-Identifier: MIT */
/* How long rtrack waits for what does not end. */
#include "run/patience.h"

#include "suite.h"

#define S INT64_C(1000000000)
#define SENT (100 * S)

START_TEST(command_that_was_sent_no_signal_has_all_time)
{
	struct patience p = { 0 };

	ck_assert_int_eq(patience_step(&p, SENT, false), PATIENCE_WAITS);
	ck_assert_int_eq(patience_step(&p, SENT + 1000 * S, true), PATIENCE_WAITS);
}
END_TEST

START_TEST(warning_comes_once_five_seconds_after_the_first_signal)
{
	struct patience p = { 0 };

	patience_begin(&p, SENT);
	patience_begin(&p, SENT + 3 * S);
	ck_assert_int_eq(patience_step(&p, SENT + 5 * S - 1, false), PATIENCE_WAITS);
	ck_assert_int_eq(patience_step(&p, SENT + 5 * S, false), PATIENCE_WARNS);
	ck_assert_int_eq(patience_step(&p, SENT + 5 * S, false), PATIENCE_WAITS);
}
END_TEST

START_TEST(end_comes_thirty_seconds_after_the_warning)
{
	struct patience p = { 0 };

	patience_begin(&p, SENT);
	ck_assert_int_eq(patience_step(&p, SENT + 7 * S, false), PATIENCE_WARNS);
	ck_assert_int_eq(patience_step(&p, SENT + 37 * S - 1, false), PATIENCE_WAITS);
	ck_assert_int_eq(patience_step(&p, SENT + 37 * S, false), PATIENCE_ENDS);
}
END_TEST

START_TEST(signal_ends_the_wait_before_and_after_the_warning)
{
	struct patience p = { 0 };

	patience_begin(&p, SENT);
	ck_assert_int_eq(patience_step(&p, SENT + 1, true), PATIENCE_ENDS);
	ck_assert_int_eq(patience_step(&p, SENT + 6 * S, false), PATIENCE_WARNS);
	ck_assert_int_eq(patience_step(&p, SENT + 6 * S, true), PATIENCE_ENDS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("patience");
	TCase *tcase = suite_case(suite, "patience");

	tcase_add_test(tcase, command_that_was_sent_no_signal_has_all_time);
	tcase_add_test(tcase, warning_comes_once_five_seconds_after_the_first_signal);
	tcase_add_test(tcase, end_comes_thirty_seconds_after_the_warning);
	tcase_add_test(tcase, signal_ends_the_wait_before_and_after_the_warning);
	return suite_run(suite);
}
