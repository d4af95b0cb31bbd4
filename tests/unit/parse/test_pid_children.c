/* SPDX-License-Identifier: MIT */
/* Parser of /proc/PID/task/TID/children. */
#include "exact.h"

#include <errno.h>

#include "parse/parse.h"
#include "suite.h"

#define PIDS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* The pids of all calls. The call with the number stop_at returns STOP. */
struct pids {
	int32_t pid[PIDS_MAX];
	unsigned count, stop_at;
};

static int add_pid(void *arg, int32_t pid)
{
	struct pids *pids = arg;

	ck_assert_uint_lt(pids->count, PIDS_MAX);
	pids->pid[pids->count++] = pid;
	return pids->count == pids->stop_at ? STOP : 0;
}

static int parse_children_text(const char *text, struct pids *pids)
{
	struct exact copy = exact(text);

	return rti_parse_children(copy.data, copy.len, add_pid, pids);
}

START_TEST(children_with_pids_calls_back_for_each)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text("12 3456 4194304 ", &pids), 0);
	ck_assert_uint_eq(pids.count, 3);
	ck_assert_int_eq(pids.pid[0], 12);
	ck_assert_int_eq(pids.pid[1], 3456);
	ck_assert_int_eq(pids.pid[2], 4194304);
	ck_assert_int_eq(parse_children_text("1 2\n3", &pids), 0);
	ck_assert_uint_eq(pids.count, 6);
}
END_TEST

START_TEST(children_without_pids_calls_back_for_none)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text("", &pids), 0);
	ck_assert_int_eq(parse_children_text(" ", &pids), 0);
	ck_assert_uint_eq(pids.count, 0);
}
END_TEST

START_TEST(children_with_callback_that_stops_returns_its_result)
{
	struct pids pids = { .stop_at = 2 };

	ck_assert_int_eq(parse_children_text("1 2 3 4", &pids), STOP);
	ck_assert_uint_eq(pids.count, 2);
}
END_TEST

static const char *const bad_children[] = { "x", "1 x", "1x", "0", "-1", "99999999999", "1,2" };

START_TEST(children_malformed_is_refused)
{
	struct pids pids = { 0 };

	ck_assert_int_eq(parse_children_text(bad_children[_i], &pids), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_pid_children");
	TCase *tests = suite_case(suite, "pid_children");

	tcase_add_test(tests, children_with_pids_calls_back_for_each);
	tcase_add_test(tests, children_without_pids_calls_back_for_none);
	tcase_add_test(tests, children_with_callback_that_stops_returns_its_result);
	tcase_add_loop_test(tests, children_malformed_is_refused, 0,
	                    sizeof(bad_children) / sizeof(bad_children[0]));
	return suite_run(suite);
}
