/* SPDX-License-Identifier: MIT */
/* Counters that never fall. */
#include "collect/counter.h"

#include "suite.h"

#define TOP UINT64_C(4294967295)

START_TEST(grows_with_the_kernel)
{
	struct rti_counter c = { 0 };

	ck_assert_uint_eq(rti_counter_advance(&c, 100), 100);
	ck_assert_uint_eq(rti_counter_advance(&c, 100), 0);
	ck_assert_uint_eq(rti_counter_advance(&c, 150), 50);
	ck_assert_uint_eq(c.total, 150);
}
END_TEST

START_TEST(wraps_where_plausible)
{
	struct rti_counter c = { 0 };

	rti_counter_advance(&c, TOP - 9);
	ck_assert_uint_eq(rti_counter_advance(&c, 5), 15);
	ck_assert_uint_eq(c.total, TOP + 6);
}
END_TEST

START_TEST(else_begins_again)
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

START_TEST(holds_over_corrections)
{
	struct rti_counter c = { 0 };

	ck_assert_int_eq(rti_counter_hold(&c, 5000), 0);
	ck_assert_int_eq(rti_counter_hold(&c, 4990), 0);
	ck_assert_uint_eq(c.total, 5000);
	ck_assert_int_eq(rti_counter_hold(&c, 4999), 0);
	ck_assert_uint_eq(c.total, 5000);
	ck_assert_int_eq(rti_counter_hold(&c, 5003), 0);
	ck_assert_uint_eq(c.total, 5003);
}
END_TEST

START_TEST(holds_small_counters)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 3);
	ck_assert_int_eq(rti_counter_hold(&c, 0), 0);
	rti_counter_hold(&c, 4);
	ck_assert_uint_eq(c.total, 4);
}
END_TEST

START_TEST(deep_fall_is_a_new_baseline)
{
	struct rti_counter c = { 0 };

	rti_counter_hold(&c, 10000);
	ck_assert_int_eq(rti_counter_hold(&c, 100), 1);
	ck_assert_uint_eq(c.total, 10000);
	ck_assert_int_eq(rti_counter_hold(&c, 130), 0);
	ck_assert_uint_eq(c.total, 10030);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counter");
	TCase *counters = suite_case(suite, "advance"), *held = suite_case(suite, "hold");

	tcase_add_test(counters, grows_with_the_kernel);
	tcase_add_test(counters, wraps_where_plausible);
	tcase_add_test(counters, else_begins_again);
	tcase_add_test(held, holds_over_corrections);
	tcase_add_test(held, holds_small_counters);
	tcase_add_test(held, deep_fall_is_a_new_baseline);
	return suite_run(suite);
}
