/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/statm. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_statm_text(const char *text, struct rti_pid_statm *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pid_statm(copy.data, copy.len, out);
}

static const struct {
	const char *text;
	uint64_t size, resident, shared;
} readable[] = {
	{ "100 50 25 1 0 10 0\n", 100, 50, 25 },
	{ "0 0 0 0 0 0 0\n", 0, 0, 0 },
	{ "  7\t5 5 1", 7, 5, 5 },
	/* The kernel counts pages per CPU, and reads the three counts one after the other. */
	{ "100 50 51 1 0 10 0\n", 100, 50, 50 },
	{ "100 0 9 1 0 10 0\n", 100, 0, 0 },
	{ "1 99999999999999999999999 2 1\n", 1, UINT64_MAX, 2 },
};

START_TEST(statm_with_four_numbers_yields_pages)
{
	struct rti_pid_statm statm;

	ck_assert_int_eq(parse_statm_text(readable[_i].text, &statm), 0);
	ck_assert_uint_eq(statm.size_pages, readable[_i].size);
	ck_assert_uint_eq(statm.resident_pages, readable[_i].resident);
	ck_assert_uint_eq(statm.shared_pages, readable[_i].shared);
}
END_TEST

static const char *const hostile[] = {
	"",
	"\n",
	"100",
	"100 50",
	"100 50 2",  /* 25, cut short? */
	"100 50 25", /* 251, cut short? */
	"100 50 25 ",
	"100 50 -25 1 0 10 0\n",
	"100 -50 25 1 0 10 0\n",
	"100 50 25 x 0 10 0\n",
	"a 50 25 1 0 10 0\n",
	"100\n50\n25\n1\n",
	"100, 50, 25, 1",
};

START_TEST(statm_cut_short_or_garbled_is_refused)
{
	struct rti_pid_statm statm;

	ck_assert_int_eq(parse_statm_text(hostile[_i], &statm), -EBADMSG);
}
END_TEST

START_TEST(statm_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(64);
	struct rti_pid_statm statm;

	ck_assert_int_eq(rti_parse_pid_statm(zeros.data, zeros.len, &statm), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_statm");
	TCase *tests = suite_case(suite, "pid_statm");

	tcase_add_loop_test(tests, statm_with_four_numbers_yields_pages, 0,
	                    sizeof(readable) / sizeof(readable[0]));
	tcase_add_loop_test(tests, statm_cut_short_or_garbled_is_refused, 0,
	                    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_test(tests, statm_of_nul_bytes_is_refused);
	return suite_run(suite);
}
