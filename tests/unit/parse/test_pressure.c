/* SPDX-License-Identifier: MIT */
/* Parser of /proc/pressure/{cpu,memory,io}. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_pressure_text(const char *text, struct rti_pressure *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pressure(copy.data, copy.len, out);
}

START_TEST(pressure_with_both_lines_parses_both)
{
	struct rti_pressure psi;

	ck_assert_int_eq(
	    parse_pressure_text("some avg10=0.54 avg60=0.23 avg300=0.37 total=5630450\n"
	                        "full avg10=0.54 avg60=0.23 avg300=0.36 total=5391811\n",
	                        &psi),
	    0);
	ck_assert_uint_eq(psi.some_us, 5630450);
	ck_assert(psi.has_full);
	ck_assert_uint_eq(psi.full_us, 5391811);
}
END_TEST

START_TEST(pressure_without_full_line_has_no_full)
{
	struct rti_pressure psi;

	ck_assert_int_eq(
	    parse_pressure_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7", &psi), 0);
	ck_assert_uint_eq(psi.some_us, 7);
	ck_assert(!psi.has_full);
	ck_assert_uint_eq(psi.full_us, 0);
}
END_TEST

START_TEST(pressure_with_full_line_without_total_has_no_full)
{
	struct rti_pressure psi;

	ck_assert_int_eq(parse_pressure_text("some total=8\nfull avg10=0.00\n", &psi), 0);
	ck_assert(!psi.has_full);
}
END_TEST

/* The value and its has_full flag are set together. */
START_TEST(pressure_with_malformed_repeated_lines_keeps_the_first)
{
	struct rti_pressure psi;

	ck_assert_int_eq(parse_pressure_text("some total=8\nfull total=9\nsome x\nfull x\n", &psi),
	                 0);
	ck_assert(psi.has_full);
	ck_assert_uint_eq(psi.full_us, 9);
}
END_TEST

static const char *const bad_pressures[] = {
	"",
	"some",
	"some avg10=0.00\n",
	"some total=\n",
	"some total=-1\n",
	"full avg10=0.00 total=5\n",
	"some\ttotal=5\n",
};

START_TEST(pressure_malformed_is_refused)
{
	struct rti_pressure psi;

	ck_assert_int_eq(parse_pressure_text(bad_pressures[_i], &psi), -EBADMSG);
}
END_TEST

START_TEST(pressure_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(4096);
	struct rti_pressure psi;

	ck_assert_int_eq(rti_parse_pressure(zeros.data, zeros.len, &psi), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pressure");
	TCase *tests = suite_case(suite, "pressure");

	tcase_add_test(tests, pressure_with_both_lines_parses_both);
	tcase_add_test(tests, pressure_without_full_line_has_no_full);
	tcase_add_test(tests, pressure_with_full_line_without_total_has_no_full);
	tcase_add_test(tests, pressure_with_malformed_repeated_lines_keeps_the_first);
	tcase_add_loop_test(tests, pressure_malformed_is_refused, 0,
	                    sizeof(bad_pressures) / sizeof(bad_pressures[0]));
	tcase_add_test(tests, pressure_of_nul_bytes_is_refused);
	return suite_run(suite);
}
