/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/smaps_rollup. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_rollup_text(const char *text, struct rti_smaps_rollup *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_smaps_rollup(copy.data, copy.len, out);
}

START_TEST(smaps_rollup_with_similar_keys_yields_pss_and_its_parts)
{
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(
	    parse_rollup_text(
		"55c1-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    900 kB\nPss:    384 kB\n"
		"Pss_Dirty:  113 kB\nPss_Anon:    112 kB\nPss_File:  270 kB\nPss_Shmem:   2 kB\n"
		"Private_Clean: 20 kB\nPrivate_Dirty: 300 kB\nAnonymous:   500 kB\n"
		"LazyFree:   64 kB\nPrivate_Hugetlb: 2048 kB\nSwap:  9 kB\nSwapPss:   7 kB\n",
		&rollup),
	    0);
	ck_assert_uint_eq(rollup.rss_kib, 900);
	ck_assert_uint_eq(rollup.pss_kib, 384);
	ck_assert(rollup.has_kinds);
	ck_assert_uint_eq(rollup.pss_anon_kib, 112);
	ck_assert_uint_eq(rollup.lazy_free_kib, 64);
	ck_assert_uint_eq(rollup.private_kib, 20 + 300 + 2048);
	ck_assert_uint_eq(rollup.swap_kib, 9);
	ck_assert_uint_eq(rollup.swap_pss_kib, 7);
}
END_TEST

START_TEST(smaps_rollup_without_blanks_parses)
{
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(parse_rollup_text("Rss:9kB\nPss:5kB\nPss_Anon:3kB", &rollup), 0);
	ck_assert_uint_eq(rollup.pss_kib, 5);
	ck_assert_uint_eq(rollup.pss_anon_kib, 3);
	ck_assert_uint_eq(rollup.lazy_free_kib, 0);
}
END_TEST

/* Before Linux 5.4 there is no Pss_Anon. That is not the same as 0. */
START_TEST(smaps_rollup_without_anonymous_part_has_pss_alone)
{
	static const char *const texts[] = {
		"Rss:    900 kB\nPss:    384 kB\nAnonymous:  112 kB\n",
		"Rss:    900 kB\nPss:    384 kB\nPss_Anon:   kB\n",
		"Rss:    900 kB\nPss:    384 kB\nPss_Anon:   -5 kB\n",
		"Rss:    900 kB\nPss:    384 kB\n Pss_Anon:   5 kB\n",
		"Rss:    900 kB\nPss:    384 kB\nPss_Anon",
	};
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(parse_rollup_text(texts[_i], &rollup), 0);
	ck_assert_uint_eq(rollup.pss_kib, 384);
	ck_assert(!rollup.has_kinds);
	ck_assert_uint_eq(rollup.pss_anon_kib, 0);
}
END_TEST

/* Each is rounded for itself. */
START_TEST(smaps_rollup_with_more_anonymous_than_pss_is_clamped)
{
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(
	    parse_rollup_text("Rss: 900 kB\nPss:  384 kB\nPss_Anon:  385 kB\n", &rollup), 0);
	ck_assert(rollup.has_kinds);
	ck_assert_uint_eq(rollup.pss_anon_kib, 384);
}
END_TEST

static const char *const hostile[] = {
	"",
	"\n\n",
	"Rss: 5 kB\nPss_Dirty:   1 kB\nSwapPss:  2 kB\n",
	"Rss: 5 kB\nPss: kB",
	"Rss: 5 kB\nPss: -1 kB\nPss_Anon: 1 kB\n",
	"Rss: 5 kB\nPss 384 kB\nPss_Anon: 1 kB\n",
	"Rss: 5 kB\n Pss: 384 kB\n",
	"Rss: 5 kB\nPss_Anon:    112 kB\n",
	"Rss: kB\nPss: 384 kB\n",
	"Pss: 384 kB\nPss_Anon: 112 kB\n",
	"55c1-7ffd ---p 00000000 00:00 0    [rollup] Pss: 384 kB\n",
};

START_TEST(smaps_rollup_without_rss_or_pss_is_refused)
{
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(parse_rollup_text(hostile[_i], &rollup), -EBADMSG);
}
END_TEST

START_TEST(smaps_rollup_of_nul_lines_is_refused)
{
	struct exact zeros = exact_zero_lines(1024);
	struct rti_smaps_rollup rollup;

	ck_assert_int_eq(rti_parse_smaps_rollup(zeros.data, zeros.len, &rollup), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_smaps_rollup");
	TCase *tests = suite_case(suite, "pid_smaps_rollup");

	tcase_add_test(tests, smaps_rollup_with_similar_keys_yields_pss_and_its_parts);
	tcase_add_test(tests, smaps_rollup_without_blanks_parses);
	tcase_add_loop_test(tests, smaps_rollup_without_anonymous_part_has_pss_alone, 0, 5);
	tcase_add_test(tests, smaps_rollup_with_more_anonymous_than_pss_is_clamped);
	tcase_add_loop_test(tests, smaps_rollup_without_rss_or_pss_is_refused, 0,
	                    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_test(tests, smaps_rollup_of_nul_lines_is_refused);
	return suite_run(suite);
}
