/* SPDX-License-Identifier: MIT */
/* When the reader of a trace is woken. */
#include <stdbool.h>
#include <stdint.h>

#include "suite.h"
#include "trace/pace.h"

#define MS 1000000u
#define PAUSE (50u * MS)
#define BEGIN 1000u

static struct rti_pace pace;

static void setup(void)
{
	pace = (struct rti_pace){ 0 };
}

static void ck_plan(uint64_t now_ns, bool found_some, bool wakes_at_once, uint64_t timer_ns)
{
	struct rti_pace_plan plan = rti_pace_plan(&pace, now_ns, found_some);

	ck_assert_int_eq(plan.wakes_at_once, wakes_at_once);
	ck_assert_uint_eq(plan.timer_ns, timer_ns);
}

START_TEST(first_event_wakes_at_once)
{
	ck_plan(BEGIN, false, true, BEGIN + PAUSE);
}
END_TEST

START_TEST(reader_that_sleeps_looks_once_more_and_then_never)
{
	ck_plan(BEGIN, false, true, BEGIN + PAUSE);
	ck_plan(BEGIN + PAUSE, false, true, RTI_PACE_NEVER);
	ck_plan(BEGIN + 2 * PAUSE, false, true, RTI_PACE_NEVER);
}
END_TEST

START_TEST(events_that_flow_are_gathered)
{
	ck_plan(BEGIN, true, false, BEGIN + PAUSE);
	ck_plan(BEGIN + PAUSE, true, false, BEGIN + 2 * PAUSE);
}
END_TEST

/* E.g.: the host also reads after other events of its own. */
START_TEST(empty_read_within_the_pause_changes_nothing)
{
	ck_plan(BEGIN, true, false, BEGIN + PAUSE);
	ck_plan(BEGIN + MS, false, false, BEGIN + PAUSE);
	ck_plan(BEGIN + PAUSE - 1, false, false, BEGIN + PAUSE);
}
END_TEST

START_TEST(reader_sleeps_after_a_pause_without_events)
{
	ck_plan(BEGIN, true, false, BEGIN + PAUSE);
	ck_plan(BEGIN + PAUSE, false, true, BEGIN + 2 * PAUSE);
	ck_plan(BEGIN + 2 * PAUSE, false, true, RTI_PACE_NEVER);
}
END_TEST

START_TEST(event_ends_the_sleep)
{
	ck_plan(BEGIN, false, true, BEGIN + PAUSE);
	ck_plan(BEGIN + MS, true, false, BEGIN + MS + PAUSE);
	ck_plan(BEGIN + MS + PAUSE, false, true, BEGIN + MS + 2 * PAUSE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_pace");
	TCase *tests = suite_case(suite, "pace");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, first_event_wakes_at_once);
	tcase_add_test(tests, reader_that_sleeps_looks_once_more_and_then_never);
	tcase_add_test(tests, events_that_flow_are_gathered);
	tcase_add_test(tests, empty_read_within_the_pause_changes_nothing);
	tcase_add_test(tests, reader_sleeps_after_a_pause_without_events);
	tcase_add_test(tests, event_ends_the_sleep);
	return suite_run(suite);
}
