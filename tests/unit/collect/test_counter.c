/* SPDX-License-Identifier: MIT */
/* Counters: growth, wraparound, resets and corrections. */
#include "collect/counter.h"

#include "suite.h"

#define TOP UINT64_C(4294967295)

#define MAX 300 /* of a correction: 3 s in clock ticks */

START_TEST(counter_that_grows_adds_the_difference)
{
	for (unsigned falls = 0; falls <= (RTI_FALL_RESTART | RTI_FALL_WRAP); falls++) {
		struct rti_counter c = { 0 };

		ck_assert(!rti_counter_advance(&c, 100, falls));
		ck_assert(!rti_counter_advance(&c, 100, falls));
		ck_assert_uint_eq(c.total, 100);
		ck_assert(!rti_counter_advance(&c, 150, falls));
		ck_assert_uint_eq(c.total, 150);
		ck_assert(!rti_counter_advance(&c, TOP * 5, falls));
		ck_assert_uint_eq(c.total, TOP * 5);
	}
}
END_TEST

START_TEST(counter_of_32_bits_that_falls_from_top_to_bottom_quarter_wraps)
{
	for (unsigned also = 0; also <= RTI_FALL_RESTART; also++) {
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, TOP - 9, RTI_FALL_WRAP | also);
		ck_assert(!rti_counter_advance(&c, 5, RTI_FALL_WRAP | also));
		ck_assert_uint_eq(c.total, TOP + 6);
		ck_assert(!rti_counter_advance(&c, 7, RTI_FALL_WRAP | also));
		ck_assert_uint_eq(c.total, TOP + 8);
	}
}
END_TEST

START_TEST(counter_at_the_edge_of_the_top_quarter_wraps)
{
	struct rti_counter c = { 0 };

	rti_counter_advance(&c, TOP / 4 * 3 + 3, RTI_FALL_WRAP); /* 3 * 2^30 */
	ck_assert(!rti_counter_advance(&c, TOP / 4, RTI_FALL_WRAP));
	ck_assert_uint_eq(c.total, TOP + 1 + TOP / 4);
}
END_TEST

/* An interface of 3.3 GB was made again and sent 50 MB: 1,045 MB were counted. */
START_TEST(counter_of_64_bits_that_falls_does_not_wrap)
{
	struct rti_counter c = { 0 };

	rti_counter_advance(&c, UINT64_C(3300000000), 0);
	ck_assert(rti_counter_advance(&c, 50000000, 0));
	ck_assert_uint_eq(c.total, UINT64_C(3300000000));
	ck_assert(!rti_counter_advance(&c, 50000007, 0));
	ck_assert_uint_eq(c.total, UINT64_C(3300000007));
}
END_TEST

static const struct {
	uint64_t last, now;
} falls_elsewhere[] = {
	{ 1000, 5 },                /* far from the top */
	{ TOP / 4 * 3 - 2, 5 },     /* just below the top quarter */
	{ TOP, UINT64_C(1) << 30 }, /* not in the bottom quarter */
	{ TOP + 1, 5 },             /* wider than 32 bits */
	{ UINT64_C(1) << 40, (UINT64_C(1) << 40) / 100 * 99 - 1 },
};

START_TEST(counter_that_falls_elsewhere_counts_from_the_new_value)
{
	for (size_t i = 0; i < sizeof(falls_elsewhere) / sizeof(falls_elsewhere[0]); i++) {
		uint64_t last = falls_elsewhere[i].last, now = falls_elsewhere[i].now;
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, last, RTI_FALL_WRAP);
		ck_assert(rti_counter_advance(&c, now, RTI_FALL_WRAP));
		ck_assert_uint_eq(c.total, last);
		ck_assert(!rti_counter_advance(&c, now + 3, RTI_FALL_WRAP));
		ck_assert_uint_eq(c.total, last + 3);
	}
}
END_TEST

START_TEST(counter_that_may_restart_adds_the_new_value_after_a_fall)
{
	for (size_t i = 0; i < sizeof(falls_elsewhere) / sizeof(falls_elsewhere[0]); i++) {
		uint64_t last = falls_elsewhere[i].last, now = falls_elsewhere[i].now;
		unsigned falls = RTI_FALL_RESTART | (i % 2 ? RTI_FALL_WRAP : 0);
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, last, falls);
		ck_assert(rti_counter_advance(&c, now, falls));
		ck_assert_uint_eq(c.total, last + now);
		ck_assert(!rti_counter_advance(&c, now + 3, falls));
		ck_assert_uint_eq(c.total, last + now + 3);
	}
}
END_TEST

/* A driver that adds up its queues without a lock shows some KB less of 10 GB, and then more. */
START_TEST(counter_that_falls_by_a_hundredth_stays_until_it_is_reached_again)
{
	const uint64_t last = UINT64_C(10000000000);

	for (unsigned falls = 0; falls <= (RTI_FALL_RESTART | RTI_FALL_WRAP); falls++) {
		struct rti_counter c = { 0 };

		rti_counter_advance(&c, last, falls);
		ck_assert(rti_counter_advance(&c, last - 4096, falls));
		ck_assert(rti_counter_advance(&c, last - last / 100, falls));
		ck_assert(rti_counter_advance(&c, last - 1, falls));
		ck_assert_uint_eq(c.total, last);
		ck_assert(!rti_counter_advance(&c, last + 50, falls));
		ck_assert_uint_eq(c.total, last + 50);
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
	tcase_add_test(advance, counter_of_32_bits_that_falls_from_top_to_bottom_quarter_wraps);
	tcase_add_test(advance, counter_at_the_edge_of_the_top_quarter_wraps);
	tcase_add_test(advance, counter_of_64_bits_that_falls_does_not_wrap);
	tcase_add_test(advance, counter_that_falls_elsewhere_counts_from_the_new_value);
	tcase_add_test(advance, counter_that_may_restart_adds_the_new_value_after_a_fall);
	tcase_add_test(advance, counter_that_falls_by_a_hundredth_stays_until_it_is_reached_again);
	tcase_add_test(hold, held_counter_after_small_fall_keeps_its_total);
	tcase_add_test(hold, held_counter_of_small_value_tolerates_a_fall_to_zero);
	tcase_add_test(hold, held_counter_after_larger_fall_counts_from_a_new_baseline);
	tcase_add_test(hold, sum_goes_on_as_a_part_of_32_bits_wraps_around);
	tcase_add_test(hold, sum_that_falls_by_another_number_begins_anew);
	return suite_run(suite);
}
