/* SPDX-License-Identifier: MIT */
/* The processes that scans found and could not add. */
#include "tree/scan/new_members.h"

#include "suite.h"

static uint64_t boottime_ns;
static struct rti_platform platform;
static struct rti_context ctx = { .platform = &platform };
static struct rti_skipped skipped;

static void read_time(struct rti_now *out)
{
	*out = (struct rti_now){ .boottime_ns = boottime_ns };
}

static void set_up(void)
{
	platform = (struct rti_platform){ .tick_ns = 10, .now = read_time };
	boottime_ns = 1000;
}

static void tear_down(void)
{
	rti_skipped_free(&skipped);
}

static void take(int32_t pid, uint64_t starttime)
{
	struct rti_pid_stat stat = { .pid = pid, .starttime = starttime, .has_starttime = true };

	rti_skipped_take(&skipped, &ctx, &stat);
}

START_TEST(nothing_is_missing_until_something_is_skipped)
{
	ck_assert(!rti_skipped_is_missing_any(&skipped));
	rti_skipped_note(&skipped, &ctx, 7);
	ck_assert(rti_skipped_is_missing_any(&skipped));
}
END_TEST

START_TEST(nothing_is_missing_when_all_that_were_skipped_are_members)
{
	rti_skipped_note(&skipped, &ctx, 7);
	boottime_ns = 2000;
	rti_skipped_note(&skipped, &ctx, 8);
	take(7, 99);
	ck_assert(rti_skipped_is_missing_any(&skipped));
	take(8, 100);
	ck_assert(!rti_skipped_is_missing_any(&skipped));
}
END_TEST

/* E.g.: pid 7 is skipped, exits, and is reused. */
START_TEST(process_that_started_after_the_first_was_skipped_may_be_another)
{
	rti_skipped_note(&skipped, &ctx, 7);
	take(7, 101);
	ck_assert(rti_skipped_is_missing_any(&skipped));
}
END_TEST

START_TEST(what_was_skipped_without_a_pid_is_missing_for_ever)
{
	rti_skipped_note(&skipped, &ctx, 0);
	ck_assert(rti_skipped_is_missing_any(&skipped));
	rti_skipped_note(&skipped, &ctx, 7);
	take(7, 1);
	ck_assert(rti_skipped_is_missing_any(&skipped));
	rti_skipped_free(&skipped);
	ck_assert(!rti_skipped_is_missing_any(&skipped));
}
END_TEST

/* No process has such a pid: what was read is not to be relied on. */
START_TEST(what_was_skipped_with_an_impossible_pid_is_missing_for_ever)
{
	static const int32_t pids[] = { -1, 1 << 22 };

	rti_skipped_note(&skipped, &ctx, pids[_i]);
	take(pids[_i], 1);
	ck_assert(rti_skipped_is_missing_any(&skipped));
}
END_TEST

START_TEST(process_without_start_time_may_be_another)
{
	const struct rti_pid_stat stat = { .pid = 7 };

	rti_skipped_note(&skipped, &ctx, 7);
	rti_skipped_take(&skipped, &ctx, &stat);
	ck_assert(rti_skipped_is_missing_any(&skipped));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("skipped");
	TCase *tests = suite_case(suite, "skipped");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, nothing_is_missing_until_something_is_skipped);
	tcase_add_test(tests, nothing_is_missing_when_all_that_were_skipped_are_members);
	tcase_add_test(tests, process_that_started_after_the_first_was_skipped_may_be_another);
	tcase_add_test(tests, what_was_skipped_without_a_pid_is_missing_for_ever);
	tcase_add_loop_test(tests, what_was_skipped_with_an_impossible_pid_is_missing_for_ever, 0,
	                    2);
	tcase_add_test(tests, process_without_start_time_may_be_another);
	return suite_run(suite);
}
