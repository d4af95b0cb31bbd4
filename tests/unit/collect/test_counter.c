/* SPDX-License-Identifier: MIT */
/* Counters: growth, wraparound, resets and corrections. */
#include "collect/counter.h"

#include "suite.h"

#define TOP UINT64_C(4294967295)

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

	ck_assert(!rti_counter_hold(&c, 5000));
	ck_assert(!rti_counter_hold(&c, 4990));
	ck_assert_uint_eq(c.total, 5000);
	ck_assert(!rti_counter_hold(&c, 4999));
	ck_assert_uint_eq(c.total, 5000);
	ck_assert(!rti_counter_hold(&c, 5003));
	ck_assert_uint_eq(c.total, 5003);
}
END_TEST

START_TEST(held_counter_of_small_value_tolerates_a_fall_to_zero)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 3);
	ck_assert(!rti_counter_hold(&c, 0));
	rti_counter_hold(&c, 4);
	ck_assert_uint_eq(c.total, 4);
}
END_TEST

START_TEST(held_counter_after_deep_fall_counts_from_a_new_baseline)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 10000);
	ck_assert(rti_counter_hold(&c, 100));
	ck_assert_uint_eq(c.total, 10000);
	ck_assert(!rti_counter_hold(&c, 130));
	ck_assert_uint_eq(c.total, 10030);
}
END_TEST

/* The total has outgrown the counter, which was deep down once: its own half decides. */
START_TEST(held_counter_is_judged_by_its_last_value_and_not_by_the_total)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 1000000);
	ck_assert(rti_counter_hold(&c, 0));
	rti_counter_hold(&c, 10000);
	ck_assert(!rti_counter_hold(&c, 7000));
	ck_assert(!rti_counter_hold(&c, 10001));
	ck_assert_uint_eq(c.total, 1010001);
	ck_assert(rti_counter_hold(&c, 0));
	rti_counter_hold(&c, 900);
	ck_assert(!rti_counter_hold(&c, 100));
	ck_assert_uint_eq(c.total, 1010901);
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
	tcase_add_test(hold, held_counter_is_judged_by_its_last_value_and_not_by_the_total);
	tcase_add_test(hold, held_counter_after_deep_fall_counts_from_a_new_baseline);
	return suite_run(suite);
}
