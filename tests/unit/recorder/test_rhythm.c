/* SPDX-License-Identifier: MIT */
/* The ticks of a recorder: none drifts, and each has a sample or was missed. */
#include <stdint.h>

#include "recorder/rhythm.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define START UINT64_C(123456789)
#define INTERVAL (10 * MS)

static struct rti_rhythm rhythm;

static void setup(void)
{
	rti_rhythm_init(&rhythm, START, INTERVAL);
}

static void sample(uint64_t begin_ns, uint64_t end_ns)
{
	rti_rhythm_begin_sample(&rhythm, START + begin_ns);
	rti_rhythm_end_sample(&rhythm, START + end_ns);
}

static void ck_next(uint64_t after_ns, uint64_t missed)
{
	ck_assert_uint_eq(rti_rhythm_next_ns(&rhythm), START + after_ns);
	ck_assert_uint_eq(rhythm.missed, missed);
}

START_TEST(first_tick_is_the_start)
{
	ck_next(0, 0);
}
END_TEST

START_TEST(late_samples_do_not_move_later_ticks)
{
	for (uint64_t i = 0; i < 1000; i++) {
		sample(i * INTERVAL + 3 * MS, i * INTERVAL + 9 * MS);
		ck_next((i + 1) * INTERVAL, 0);
	}
}
END_TEST

START_TEST(ticks_that_pass_while_a_sample_is_taken_are_missed)
{
	sample(0, 25 * MS);
	ck_next(30 * MS, 2);
	sample(30 * MS, 31 * MS);
	ck_next(40 * MS, 2);
	sample(40 * MS, 50 * MS); /* until the very tick */
	ck_next(60 * MS, 3);
}
END_TEST

/* E.g.: the thread is to wake for the tick at 10 ms, and runs again at 38 ms. That sample is the
 * one of 30 ms. */
START_TEST(ticks_that_pass_before_the_thread_runs_are_missed)
{
	sample(0, MS);
	sample(38 * MS, 39 * MS);
	ck_next(40 * MS, 2);
	sample(99 * MS, 131 * MS);
	ck_next(140 * MS, 2 + 5 + 4);
}
END_TEST

START_TEST(taken_and_missed_are_all_ticks_whatever_happens)
{
	uint64_t now = 0, taken = 0, state = 1;

	for (; taken < 10000; taken++) {
		uint64_t next_ns = rti_rhythm_next_ns(&rhythm) - START, begin_ns;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		begin_ns = next_ns + (state >> 40) % (3 * INTERVAL);
		now = begin_ns + (state >> 20) % (2 * INTERVAL);
		sample(begin_ns, now);
	}
	ck_assert_uint_eq(taken + rhythm.missed, now / INTERVAL + 1);
}
END_TEST

START_TEST(tick_beyond_all_time_is_never)
{
	rti_rhythm_init(&rhythm, START, UINT64_MAX - 5);
	sample(0, MS);
	ck_assert_uint_eq(rti_rhythm_next_ns(&rhythm), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rhythm");
	TCase *tc = suite_case(suite, "rhythm");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, first_tick_is_the_start);
	tcase_add_test(tc, late_samples_do_not_move_later_ticks);
	tcase_add_test(tc, ticks_that_pass_while_a_sample_is_taken_are_missed);
	tcase_add_test(tc, ticks_that_pass_before_the_thread_runs_are_missed);
	tcase_add_test(tc, taken_and_missed_are_all_ticks_whatever_happens);
	tcase_add_test(tc, tick_beyond_all_time_is_never);
	return suite_run(suite);
}
