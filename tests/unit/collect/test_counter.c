/* SPDX-License-Identifier: MIT */
/* Counters: growth, wraparound, resets and corrections. */
#include "collect/counter.h"

#include "suite.h"

#define TOP UINT64_C(4294967295)

#define MAX 300 /* of a correction: 3 s in clock ticks */

START_TEST(counter_that_grows_adds_the_difference)
{
	struct rti_counter c = { 0 };

	ck_assert_uint_eq(rti_counter_advance(&c, 100), 100);
	ck_assert_uint_eq(rti_counter_advance(&c, 100), 0);
	ck_assert_uint_eq(rti_counter_advance(&c, 150), 50);
	ck_assert_uint_eq(c.total, 150);
}
END_TEST

START_TEST(counter_that_falls_from_top_to_bottom_quarter_wraps)
{
	struct rti_counter c = { 0 };

	rti_counter_advance(&c, TOP - 9);
	ck_assert_uint_eq(rti_counter_advance(&c, 5), 15);
	ck_assert_uint_eq(c.total, TOP + 6);
}
END_TEST

START_TEST(counter_that_falls_elsewhere_adds_the_new_value)
{
	static const struct {
		uint64_t last, now;
	} falls[] = {
		{ 1000, 5 },                /* far from the top */
		{ TOP / 4 * 3 - 2, 5 },     /* just below the top quarter */
		{ TOP, UINT64_C(1) << 30 }, /* not in the bottom quarter */
		{ TOP + 1, 5 },             /* wider than 32 bits */
		{ UINT64_C(1) << 40, (UINT64_C(1) << 40) - 1 },
	};

	for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, falls[i].last);
		ck_assert_uint_eq(rti_counter_advance(&c, falls[i].now), falls[i].now);
		ck_assert_uint_eq(c.total, falls[i].last + falls[i].now);
	}
}
END_TEST

START_TEST(held_counter_after_small_fall_keeps_its_total)
{
	struct rti_counter c = { 0 };

	ck_assert(!rti_counter_hold(&c, 5000, MAX));
	ck_assert(!rti_counter_hold(&c, 5000 - MAX, MAX));
	ck_assert_uint_eq(c.total, 5000);
	ck_assert(!rti_counter_hold(&c, 4999, MAX));
	ck_assert_uint_eq(c.total, 5000);
	ck_assert(!rti_counter_hold(&c, 5003, MAX));
	ck_assert_uint_eq(c.total, 5003);
}
END_TEST

START_TEST(held_counter_of_small_value_tolerates_a_fall_to_zero)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 3, MAX);
	ck_assert(!rti_counter_hold(&c, 0, MAX));
	rti_counter_hold(&c, 4, MAX);
	ck_assert_uint_eq(c.total, 4);
}
END_TEST

/* Idle time has stood still for an hour, until it was reached again. */
START_TEST(held_counter_after_larger_fall_counts_from_a_new_baseline)
{
	static const uint64_t falls[] = { 0, 100, 5000, 9999 - MAX };

	for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
		struct rti_counter c = { 0 };

		rti_counter_hold(&c, 10000, MAX);
		ck_assert(rti_counter_hold(&c, falls[i], MAX));
		ck_assert_uint_eq(c.total, 10000);
		ck_assert(!rti_counter_hold(&c, falls[i] + 30, MAX));
		ck_assert_uint_eq(c.total, 10030);
	}
}
END_TEST

START_TEST(sum_goes_on_as_a_part_of_32_bits_wraps_around)
{
	const uint64_t before = UINT64_C(20000000000), wrap = UINT64_C(1) << 32;
	struct rti_counter c = { 0 };

	ck_assert(!rti_counter_hold_sum(&c, before));
	ck_assert(!rti_counter_hold_sum(&c, before - wrap + 5000000));
	ck_assert_uint_eq(c.total, before + 5000000);
	ck_assert(!rti_counter_hold_sum(&c, before - wrap + 5000001));
	ck_assert_uint_eq(c.total, before + 5000001);
}
END_TEST

START_TEST(sum_that_falls_by_another_number_begins_anew)
{
	const uint64_t before = UINT64_C(20000000000), wrap = UINT64_C(1) << 32;
	const uint64_t falls[] = { 0, 1000, before - wrap - 1, before - wrap + wrap / 4,
		                   before - 1 };

	for (size_t i = 0; i < sizeof(falls) / sizeof(falls[0]); i++) {
		struct rti_counter c = { 0 };

		rti_counter_hold_sum(&c, before);
		ck_assert(rti_counter_hold_sum(&c, falls[i]));
		ck_assert_uint_eq(c.total, before);
		ck_assert(!rti_counter_hold_sum(&c, falls[i] + 7));
		ck_assert_uint_eq(c.total, before + 7);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *advance = suite_case(suite, "advance"), *hold = suite_case(suite, "hold");

	tcase_add_test(advance, counter_that_grows_adds_the_difference);
	tcase_add_test(advance, counter_that_falls_from_top_to_bottom_quarter_wraps);
	tcase_add_test(advance, counter_that_falls_elsewhere_adds_the_new_value);
	tcase_add_test(hold, held_counter_after_small_fall_keeps_its_total);
	tcase_add_test(hold, held_counter_of_small_value_tolerates_a_fall_to_zero);
	tcase_add_test(hold, held_counter_after_larger_fall_counts_from_a_new_baseline);
	tcase_add_test(hold, sum_goes_on_as_a_part_of_32_bits_wraps_around);
	tcase_add_test(hold, sum_that_falls_by_another_number_begins_anew);
	return suite_run(suite);
}
