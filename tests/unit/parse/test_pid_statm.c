/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/statm. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

START_TEST(statm_with_all_columns_yields_resident_pages)
{
	struct exact full = exact("100 50 25 1 0 10 0\n"), none = exact("0 0 0 0 0 0 0\n");
	uint64_t resident_pages;

	ck_assert_int_eq(rti_parse_pid_statm(full.data, full.len, &resident_pages), 0);
	ck_assert_uint_eq(resident_pages, 50);
	ck_assert_int_eq(rti_parse_pid_statm(none.data, none.len, &resident_pages), 0);
	ck_assert_uint_eq(resident_pages, 0);
}
END_TEST

START_TEST(statm_cut_short_is_refused)
{
	struct exact full = exact("100 50 25 1 0 10 0\n");
	uint64_t resident_pages;

	ck_assert_int_eq(rti_parse_pid_statm(full.data, 6, &resident_pages), -EBADMSG);
	ck_assert_int_eq(rti_parse_pid_statm(full.data, 0, &resident_pages), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_statm");
	TCase *tests = suite_case(suite, "pid_statm");

	tcase_add_test(tests, statm_with_all_columns_yields_resident_pages);
	tcase_add_test(tests, statm_cut_short_is_refused);
	return suite_run(suite);
}
