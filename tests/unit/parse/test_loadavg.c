/* SPDX-License-Identifier: MIT */
/* Parser of /proc/loadavg. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_loadavg_text(const char *text, struct rti_loadavg *out)
{
	struct exact copy = exact(text);

	return rti_parse_loadavg(copy.data, copy.len, out);
}

START_TEST(loadavg_with_all_fields_parses_each)
{
	struct rti_loadavg load;

	ck_assert_int_eq(parse_loadavg_text("0.06 1.10 123.99 2/345 12345\n", &load), 0);
	ck_assert_double_eq(load.load_1m, 0.06);
	ck_assert_double_eq(load.load_5m, 1.10);
	ck_assert_double_eq(load.load_15m, 123.99);
	ck_assert_uint_eq(load.running, 2);
	ck_assert_uint_eq(load.threads, 345);
	ck_assert_uint_eq(load.last_pid, 12345);
}
END_TEST

static const char *const bad_loadavgs[] = {
	"",
	"0.06",
	"0.06 0.1 0.2",
	"0.06 0.1 0.2 2",
	"0.06 0.1 0.2 2/",
	"0.06 0.1 0.2 2/3",
	"0.06 0.1 0.2 /3 4",
	"a 0.1 0.2 2/3 4",
	"0,06 0,10 0,20 2/3 4",
	"nan nan nan 1/2 3",
};

START_TEST(loadavg_malformed_is_refused)
{
	struct rti_loadavg load;

	ck_assert_int_eq(parse_loadavg_text(bad_loadavgs[_i], &load), -EBADMSG);
}
END_TEST

START_TEST(loadavg_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(4096);
	struct rti_loadavg load;

	ck_assert_int_eq(rti_parse_loadavg(zeros.data, zeros.len, &load), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_loadavg");
	TCase *tests = suite_case(suite, "loadavg");

	tcase_add_test(tests, loadavg_with_all_fields_parses_each);
	tcase_add_loop_test(tests, loadavg_malformed_is_refused, 0,
	                    sizeof(bad_loadavgs) / sizeof(bad_loadavgs[0]));
	tcase_add_test(tests, loadavg_of_nul_bytes_is_refused);
	return suite_run(suite);
}
