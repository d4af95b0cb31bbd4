/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps_rollup. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

START_TEST(smaps_rollup_with_similar_keys_yields_pss)
{
	struct exact copy =
	    exact("55c1-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    900 kB\nPss:    384 kB\n"
	          "Pss_Anon:    112 kB\nSwapPss:   7 kB\n");
	uint64_t pss = 0;

	ck_assert_int_eq(rti_parse_smaps_rollup(copy.data, copy.len, &pss), 0);
	ck_assert_uint_eq(pss, 384);
}
END_TEST

START_TEST(smaps_rollup_without_blanks_parses)
{
	struct exact tight = exact("Pss:5kB");
	uint64_t pss = 0;

	ck_assert_int_eq(rti_parse_smaps_rollup(tight.data, tight.len, &pss), 0);
	ck_assert_uint_eq(pss, 5);
}
END_TEST

START_TEST(smaps_rollup_without_pss_is_refused)
{
	struct exact dirty = exact("Pss_Dirty:   1 kB\nSwapPss:  2 kB\n");
	struct exact bad = exact("Pss: kB");
	uint64_t pss = 0;

	ck_assert_int_eq(rti_parse_smaps_rollup(dirty.data, dirty.len, &pss), -EBADMSG);
	ck_assert_int_eq(rti_parse_smaps_rollup(bad.data, bad.len, &pss), -EBADMSG);
	ck_assert_int_eq(rti_parse_smaps_rollup(bad.data, 0, &pss), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_smaps_rollup");
	TCase *tests = suite_case(suite, "pid_smaps_rollup");

	tcase_add_test(tests, smaps_rollup_with_similar_keys_yields_pss);
	tcase_add_test(tests, smaps_rollup_without_blanks_parses);
	tcase_add_test(tests, smaps_rollup_without_pss_is_refused);
	return suite_run(suite);
}
