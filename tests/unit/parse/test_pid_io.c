/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/io. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

static int parse_io_text(const char *text, struct rti_pid_io *out)
{
	struct exact copy = exact(text);

	return rti_parse_pid_io(copy.data, copy.len, out);
}

START_TEST(io_with_seven_keys_parses_all)
{
	struct rti_pid_io io;

	ck_assert_int_eq(
	    parse_io_text("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
	                  "cancelled_write_bytes: 18446744073709551615\n",
	                  &io),
	    0);
	ck_assert_uint_eq(io.rchar, 1);
	ck_assert_uint_eq(io.wchar, 2);
	ck_assert_uint_eq(io.read_bytes, 5);
	ck_assert_uint_eq(io.write_bytes, 6);
	ck_assert_uint_eq(io.cancelled_write_bytes, UINT64_MAX);
	ck_assert(io.has_calls);
	ck_assert_uint_eq(io.syscr, 3);
	ck_assert_uint_eq(io.syscw, 4);
}
END_TEST

/* The five values are 1, 2, 5, 6, 7 in each of these. */
static const char *const odd_ios[] = {
	"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: "
	"6\ncancelled_write_bytes: 7",
	"cancelled_write_bytes: 7\nwrite_bytes: 6\nread_bytes: 5\nwchar: 2\nrchar: 1\n",
	"wchar: 2\nread_bytes: 5\nrchar: 1\ncancelled_write_bytes: 7\nwrite_bytes: 6\n",
	"rchar: 1\nwchar: 2\nfuture: 9\nread_bytes: 5\n\nwrite_bytes: 6\ncancelled_write_bytes: "
	"7\nlast: 9\n",
	"rchar: 1\nrchar_net: 9\nwchar: 2\nread_bytes: 5\nread: 9\nwrite_bytes: "
	"6\ncancelled_write_bytes: 7\n",
	"rchar: 9\nwchar: 2\nread_bytes: 9\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: "
	"7\nrchar: 1\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\nrchar: "
	"x\nwchar:",
};

START_TEST(io_with_other_order_or_keys_parses)
{
	struct rti_pid_io io;

	ck_assert_int_eq(parse_io_text(odd_ios[_i], &io), 0);
	ck_assert_uint_eq(io.rchar, 1);
	ck_assert_uint_eq(io.wchar, 2);
	ck_assert_uint_eq(io.read_bytes, 5);
	ck_assert_uint_eq(io.write_bytes, 6);
	ck_assert_uint_eq(io.cancelled_write_bytes, 7);
}
END_TEST

static const char *const bad_ios[] = {
	"",
	"rchar: 1\nwchar: 2\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
	"rchar: 1\nwchar: 2\nrchar: 1\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
	"rchar: 1\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\n",
	"rchar: 1\nwchar: 2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: ",
	"rchar: 1\nwchar: -2\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
};

START_TEST(io_without_one_of_five_keys_is_refused)
{
	struct rti_pid_io io;

	ck_assert_int_eq(parse_io_text(bad_ios[_i], &io), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_io");
	TCase *tests = suite_case(suite, "pid_io");

	tcase_add_test(tests, io_with_seven_keys_parses_all);
	tcase_add_loop_test(tests, io_with_other_order_or_keys_parses, 0,
	                    sizeof(odd_ios) / sizeof(odd_ios[0]));
	tcase_add_loop_test(tests, io_without_one_of_five_keys_is_refused, 0,
	                    sizeof(bad_ios) / sizeof(bad_ios[0]));
	return suite_run(suite);
}
