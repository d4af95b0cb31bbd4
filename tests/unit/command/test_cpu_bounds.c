/* SPDX-License-Identifier: MIT */
/* The bracket of a tree's CPU time, on hand-made cases and against every one of many small
 * worlds. */
#include "command/cpu_bounds.h"

#include "os/cpu_time.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define UNKNOWN UINT64_MAX

START_TEST(growth_needs_two_readings_that_do_not_fall)
{
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, 10), 7);
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, 3), 0);
	ck_assert_uint_eq(rti_cpu_bounds_growth(UNKNOWN, 10), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, UNKNOWN), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(UNKNOWN, UNKNOWN), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(10, 3), UNKNOWN);
}
END_TEST

START_TEST(a_cgroup_of_its_own_leaves_no_doubt)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 9000 * MS,
		                                    .is_covered_by_cgroup = 1 };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, 500 * MS);
	ck_assert_int_eq(b.is_unverified, 0);
}
END_TEST

START_TEST(members_that_run_on_have_no_upper_bound_in_a_cgroup_of_their_own)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .is_covered_by_cgroup = 1,
		                                    .is_running = 1 };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, UNKNOWN);
	ck_assert_int_eq(b.is_unverified, 0);
}
END_TEST

START_TEST(without_a_cgroup_nothing_is_bounded)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = UNKNOWN,
		                                    .lag_ns = 20 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, UNKNOWN);
	ck_assert_int_eq(b.is_unverified, 1);
}
END_TEST

START_TEST(what_others_used_leaves_room_for_what_was_missed)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 800 * MS,
		                                    .lag_ns = 40 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, (800 + 16 + 10 + 40) * MS);
	ck_assert_int_eq(b.is_unverified, 1);
}
END_TEST

START_TEST(what_is_ours_is_no_room)
{
	struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                              .overhead_ns = 85 * MS,
		                              .lag_ns = 10 * MS };

	known.growth_ns = (500 + 5 + 10 + 85) * MS;
	ck_assert_int_eq(rti_cpu_bounds(&known).is_unverified, 0);
	known.growth_ns++;
	ck_assert_int_eq(rti_cpu_bounds(&known).is_unverified, 1);
}
END_TEST

START_TEST(an_account_that_lags_never_turns_the_bracket_over)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 400 * MS,
		                                    .lag_ns = 10 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, 500 * MS);
	ck_assert_int_eq(b.is_unverified, 0);
}
END_TEST

START_TEST(the_largest_numbers_do_not_wrap)
{
	struct rti_cpu_bounds_known known = { .low_ns = UINT64_MAX - 3,
		                              .growth_ns = UINT64_MAX - 1,
		                              .lag_ns = UINT64_MAX };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.high_ns, UINT64_MAX);
	ck_assert_int_eq(b.is_unverified, 0);
	known.low_ns = 0;
	known.overhead_ns = UINT64_MAX - 5;
	ck_assert_int_eq(rti_cpu_bounds(&known).is_unverified, 0);
}
END_TEST

/* The truth is what is known and what was missed. The account has all of that and what strangers
 * and we ourselves used, less what it lags. */
START_TEST(the_truth_of_every_small_world_is_in_the_bracket)
{
	const uint64_t step = 7 * MS, lag = 20 * MS;

	for (uint64_t i = 0; i < 6 * 6 * 6 * 6 * 6; i++) {
		uint64_t low = i % 6 * 40 * MS, missed = i / 6 % 6 * step,
			 strangers = i / 36 % 6 * step;
		uint64_t ours = i / 216 % 6 * step, late = i / 1296 % 6 * 4 * MS,
			 all = low + missed + strangers + ours;
		const struct rti_cpu_bounds_known known = { .low_ns = low,
			                                    .growth_ns =
			                                        all > late ? all - late : 0,
			                                    .overhead_ns = ours,
			                                    .lag_ns = lag };
		struct rti_cpu_bounds b = rti_cpu_bounds(&known);

		if (b.low_ns > low + missed || b.high_ns < low + missed)
			ck_abort_msg("%ju + %ju ns not in %ju to %ju", (uintmax_t)low,
			             (uintmax_t)missed, (uintmax_t)b.low_ns, (uintmax_t)b.high_ns);
		if (!b.is_unverified && missed > low / 100 + RTI_TICK_MAX_NS + late)
			ck_abort_msg("%ju of %ju ns were missed without notice", (uintmax_t)missed,
			             (uintmax_t)low);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bracket");
	TCase *tcase = suite_case(suite, "bracket");

	tcase_add_test(tcase, growth_needs_two_readings_that_do_not_fall);
	tcase_add_test(tcase, a_cgroup_of_its_own_leaves_no_doubt);
	tcase_add_test(tcase, members_that_run_on_have_no_upper_bound_in_a_cgroup_of_their_own);
	tcase_add_test(tcase, without_a_cgroup_nothing_is_bounded);
	tcase_add_test(tcase, what_others_used_leaves_room_for_what_was_missed);
	tcase_add_test(tcase, what_is_ours_is_no_room);
	tcase_add_test(tcase, an_account_that_lags_never_turns_the_bracket_over);
	tcase_add_test(tcase, the_largest_numbers_do_not_wrap);
	tcase_add_test(tcase, the_truth_of_every_small_world_is_in_the_bracket);
	return suite_run(suite);
}
