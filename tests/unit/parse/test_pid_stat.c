/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/stat. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

/* Fields 3 to 52, each with a different number. */
#define STAT_TAIL                                                                                  \
	"S 1 3 4 -5 -6 4194560 10 11 12 13 14 15 16 17 -18 -19 20 0 22 23 24 "                     \
	"18446744073709551615 26 27 28 29 30 "                                                     \
	"31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52\n"

static int parse_stat_text(const char *text, struct rti_pid_stat *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pid_stat(copy.data, copy.len, out);
}

START_TEST(stat_with_all_fields_parses_each)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text("42 (name) " STAT_TAIL, &st), 0);
	ck_assert_int_eq(st.pid, 42);
	ck_assert_str_eq(st.comm, "name");
	ck_assert_int_eq(st.state, 'S');
	ck_assert_int_eq(st.ppid, 1);
	ck_assert_int_eq(st.pgrp, 3);
	ck_assert_int_eq(st.session, 4);
	ck_assert_uint_eq(st.flags, 4194560);
	ck_assert_uint_eq(st.minflt, 10);
	ck_assert_uint_eq(st.cminflt, 11);
	ck_assert_uint_eq(st.majflt, 12);
	ck_assert_uint_eq(st.cmajflt, 13);
	ck_assert_uint_eq(st.utime, 14);
	ck_assert_uint_eq(st.stime, 15);
	ck_assert_uint_eq(st.cutime, 16);
	ck_assert_uint_eq(st.cstime, 17);
	ck_assert_uint_eq(st.num_threads, 20);
	ck_assert(st.has_starttime);
	ck_assert_uint_eq(st.starttime, 22);
	ck_assert_uint_eq(st.rss_pages, 24);
	ck_assert_uint_eq(st.stack, 28);
	ck_assert(st.has_signals);
	ck_assert_uint_eq(st.sigignore, 33);
	ck_assert_int_eq(st.exit_signal, 38);
	ck_assert_int_eq(st.processor, 39);
}
END_TEST

START_TEST(exit_code_is_the_last_field)
{
	static const char text[] = "42 (a) b) Z 1 7 9 0 -1 4227084 66 76 0 0 0 0 0 0 20 0 1 0 "
				   "2508358 0 0 18446744073709551615 0 0 0 0 0 0 0 6 65536 1 0 0 "
				   "17 1 0 0 0 0 0 0 0 0 0 0 0 0 1792\n";
	int status = 0;

	ck_assert_int_eq(rti_parse_pid_stat_exit_code(text, sizeof(text) - 1, &status), 0);
	ck_assert_int_eq(status, 7 << 8);
	for (size_t len = 0; len <= sizeof(text) - 7; len++)
		ck_assert_int_eq(rti_parse_pid_stat_exit_code(text, len, &status), -EBADMSG);
	ck_assert_int_eq(status, 7 << 8);
}
END_TEST

/* The flags are field 9, and the pending signals of the thread field 31. */
static const struct {
	const char *flags, *pending;
	bool is_ending;
} threads[] = {
	{ "4194368", "0", false },          /* PF_RANDOMIZE and PF_FORKNOEXEC */
	{ "4227084", "0", true },           /* and PF_EXITING */
	{ "4194368", "256", true },         /* SIGKILL */
	{ "4194368", "2147483391", false }, /* all signals up to 31, except for SIGKILL */
};

START_TEST(thread_in_exit_or_with_pending_sigkill_is_ending)
{
	struct exact copy;
	char text[256];
	bool is_ending = !threads[_i].is_ending;
	int len;

	len = snprintf(text, sizeof(text),
	               "42 (a) b) S 4 5 6 4 4 %s 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 %s 256",
	               threads[_i].flags, threads[_i].pending);
	copy = exact(text);

	ck_assert_int_eq(rti_parse_thread_is_ending(copy.data, copy.len, &is_ending), 0);
	ck_assert_int_eq(is_ending, threads[_i].is_ending);
	for (int cut = len - 5 - (int)strlen(threads[_i].pending); cut >= 0; cut--) {
		text[cut] = '\0';
		copy = exact(text);
		ck_assert_int_eq(rti_parse_thread_is_ending(copy.data, copy.len, &is_ending),
		                 -EBADMSG);
	}
}
END_TEST

START_TEST(stat_ending_before_signals_parses_without_them)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(
	    parse_stat_text(
		"42 (c) S 1 3 4 5 6 7 10 11 12 13 14 15 16 17 18 19 20 0 22 23 24 25 26", &st),
	    0);
	ck_assert(!st.has_signals);
	ck_assert_int_eq(st.processor, -1);
	ck_assert_uint_eq(st.rss_pages, 24);
	ck_assert_uint_eq(st.stack, 0);
}
END_TEST

static const char *const comms[] = {
	"",       " ",         "a b", "a) R 1",    ")",  "))))",     "(",
	"(x) (y", "new\nline", "\t",  "7 (x) S 9", "\\", "\xff\xfe",
};

START_TEST(stat_with_any_comm_parses)
{
	struct rti_pid_stat st;
	char text[512];

	snprintf(text, sizeof(text), "42 (%s) " STAT_TAIL, comms[_i]);
	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_str_eq(st.comm, comms[_i]);
	ck_assert_int_eq(st.ppid, 1);
	ck_assert_uint_eq(st.starttime, 22);
}
END_TEST

START_TEST(stat_with_long_comm_is_cut)
{
	struct rti_pid_stat st;
	char text[512], comm[101];

	memset(comm, 'k', 100);
	comm[100] = '\0';
	snprintf(text, sizeof(text), "42 (%s) " STAT_TAIL, comm);
	ck_assert_int_eq(parse_stat_text(text, &st), 0);

	comm[63] = '\0';
	ck_assert_str_eq(st.comm, comm);
	ck_assert_int_eq(st.ppid, 1);
}
END_TEST

START_TEST(stat_with_negative_child_times_clamps_to_zero)
{
	static const char text[] =
	    "1 (x) R 0 0 0 0 0 0 0 0 0 0 1 2 -1 -9223372036854775808 0 0 1 0 5 0 -3";
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_uint_eq(st.cutime, 0);
	ck_assert_uint_eq(st.cstime, 0);
	ck_assert_uint_eq(st.stime, 2);
	ck_assert_uint_eq(st.starttime, 5);
	ck_assert_uint_eq(st.rss_pages, 0);
}
END_TEST

START_TEST(stat_with_numbers_past_64_bits_saturates)
{
	static const char text[] =
	    "1 (x) R 0 0 0 0 0 0 99999999999999999999999 0 0 0 1 2 0 0 0 0 1 0 5 0 3";
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(text, &st), 0);
	ck_assert_uint_eq(st.minflt, UINT64_MAX);
	ck_assert_uint_eq(st.utime, 1);
	ck_assert_int_eq(parse_stat_text("4294967297 (x) " STAT_TAIL, &st), -EBADMSG);
}
END_TEST

START_TEST(stat_ending_before_num_threads_is_refused)
{
	static const char short_line[] = "1 (x) R 7 0 0 0 0 0 1 2 3 4 5 6 7 8 0 0 9";
	struct rti_pid_stat st;
	char text[sizeof(short_line)];

	ck_assert_int_eq(parse_stat_text(short_line, &st), 0);
	ck_assert_uint_eq(st.num_threads, 9);
	ck_assert(!st.has_starttime);
	ck_assert_uint_eq(st.starttime, 0);
	ck_assert_uint_eq(st.rss_pages, 0);
	for (size_t len = 0; len < sizeof(short_line) - 1; len++) {
		memcpy(text, short_line, len);
		text[len] = '\0';
		ck_assert_int_eq(parse_stat_text(text, &st), -EBADMSG);
	}
}
END_TEST

START_TEST(stat_ending_after_starttime_has_no_rss)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text("1 (x) R 7 0 0 0 0 0 1 2 3 4 5 6 7 8 0 0 9 0 1234\n", &st),
	                 0);
	ck_assert(st.has_starttime);
	ck_assert_uint_eq(st.starttime, 1234);
	ck_assert_uint_eq(st.rss_pages, 0);
}
END_TEST

static const char *const bad_stats[] = {
	"",
	"\n",
	"1",
	"1 (",
	"1 (x",
	"1 x) R 1",
	"(x) R 1",
	"x (x) " STAT_TAIL,
	"1 (x)",
	"1 (x) ",
	"1 (x) R",
	"1 (x) RR 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",
	"1 (x) R y 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1",
	"1 (x) R 0 0 0 0 0 0 0 0 0 0 -1 0 0 0 0 0 1",
};

START_TEST(stat_malformed_is_refused)
{
	struct rti_pid_stat st;

	ck_assert_int_eq(parse_stat_text(bad_stats[_i], &st), -EBADMSG);
}
END_TEST

START_TEST(stat_with_nul_bytes_is_refused)
{
	static const char text[] = "1 (x) R 0 0 0 0 0 0 0 \0 0 0 0 0 0 0 0 0 1";
	struct exact copy = exact_bytes(text, sizeof(text) - 1);
	struct exact zeros = exact_zeros(64);
	struct rti_pid_stat st;

	ck_assert_int_eq(rti_parse_pid_stat(copy.data, copy.len, &st), -EBADMSG);
	ck_assert_int_eq(rti_parse_pid_stat(zeros.data, zeros.len, &st), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_stat");
	TCase *tests = suite_case(suite, "pid_stat");

	tcase_add_test(tests, stat_with_all_fields_parses_each);
	tcase_add_test(tests, exit_code_is_the_last_field);
	tcase_add_loop_test(tests, thread_in_exit_or_with_pending_sigkill_is_ending, 0,
	                    sizeof(threads) / sizeof(threads[0]));
	tcase_add_test(tests, stat_ending_before_signals_parses_without_them);
	tcase_add_loop_test(tests, stat_with_any_comm_parses, 0, sizeof(comms) / sizeof(comms[0]));
	tcase_add_test(tests, stat_with_long_comm_is_cut);
	tcase_add_test(tests, stat_with_negative_child_times_clamps_to_zero);
	tcase_add_test(tests, stat_with_numbers_past_64_bits_saturates);
	tcase_add_test(tests, stat_ending_before_num_threads_is_refused);
	tcase_add_test(tests, stat_ending_after_starttime_has_no_rss);
	tcase_add_loop_test(tests, stat_malformed_is_refused, 0,
	                    sizeof(bad_stats) / sizeof(bad_stats[0]));
	tcase_add_test(tests, stat_with_nul_bytes_is_refused);
	return suite_run(suite);
}
