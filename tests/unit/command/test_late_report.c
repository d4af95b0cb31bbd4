/* SPDX-License-Identifier: MIT */
/* How long a supervisor that does not report is waited for. */
#include "command/late_report.h"

#include "suite.h"

#define MS UINT64_C(1000000)
#define S (UINT64_C(1000) * MS)
#define ENDED (100 * S)

static struct rti_late_report late;
static struct rti_platform platform;

static void begin(void)
{
	late = (struct rti_late_report){ 0 };
	rti_platform_init(&platform, false);
}

START_TEST(nothing_is_late_while_the_program_runs)
{
	ck_assert_uint_eq(rti_late_report_next_ns(&late, ENDED), UINT64_MAX);
	ck_assert(!rti_late_report_is_late(&late, ENDED));
}
END_TEST

START_TEST(report_is_late_after_a_moment)
{
	rti_late_report_begin(&late, &platform.waits, ENDED, 7);
	ck_assert_uint_eq(rti_late_report_next_ns(&late, ENDED), ENDED + 10 * MS);
	ck_assert(!rti_late_report_is_late(&late, ENDED + 9 * MS));
	ck_assert(rti_late_report_is_late(&late, ENDED + 10 * MS));
}
END_TEST

START_TEST(supervisor_without_cpu_time_has_two_seconds)
{
	rti_late_report_begin(&late, &platform.waits, ENDED, 7);
	ck_assert(!rti_late_report_is_given_up(&late, ENDED + 1999 * MS, 7, false));
	ck_assert(rti_late_report_is_given_up(&late, ENDED + 2000 * MS, 7, false));
}
END_TEST

START_TEST(supervisor_that_uses_cpu_time_has_a_minute)
{
	rti_late_report_begin(&late, &platform.waits, ENDED, 7);
	for (uint64_t s = 1; s < 60; s++)
		ck_assert(!rti_late_report_is_given_up(&late, ENDED + s * S, 7 + s, false));
	ck_assert(rti_late_report_is_given_up(&late, ENDED + 60 * S, 67, false));
}
END_TEST

START_TEST(two_seconds_begin_anew_with_each_use_of_cpu_time)
{
	rti_late_report_begin(&late, &platform.waits, ENDED, 7);
	ck_assert(!rti_late_report_is_given_up(&late, ENDED + 1900 * MS, 8, false));
	ck_assert(!rti_late_report_is_given_up(&late, ENDED + 3800 * MS, 8, false));
	ck_assert(rti_late_report_is_given_up(&late, ENDED + 3900 * MS, 8, false));
}
END_TEST

START_TEST(caller_that_asks_to_end_waits_a_tenth_of_a_second)
{
	rti_late_report_begin(&late, &platform.waits, ENDED, 7);
	ck_assert(!rti_late_report_is_given_up(&late, ENDED + 99 * MS, 8, true));
	ck_assert(rti_late_report_is_given_up(&late, ENDED + 100 * MS, 9, true));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("late_report");
	TCase *tests = suite_case(suite, "late_report");

	tcase_add_checked_fixture(tests, begin, NULL);
	tcase_add_test(tests, nothing_is_late_while_the_program_runs);
	tcase_add_test(tests, report_is_late_after_a_moment);
	tcase_add_test(tests, supervisor_without_cpu_time_has_two_seconds);
	tcase_add_test(tests, supervisor_that_uses_cpu_time_has_a_minute);
	tcase_add_test(tests, two_seconds_begin_anew_with_each_use_of_cpu_time);
	tcase_add_test(tests, caller_that_asks_to_end_waits_a_tenth_of_a_second);
	return suite_run(suite);
}
